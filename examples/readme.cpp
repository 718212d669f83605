// The program that README.md shows: two servers, three requests.
#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/reflector.hpp>

#include <boost/asio/io_context.hpp>

#include <iostream>

namespace aa = agones_alloc;

int main() {
  boost::asio::io_context loop;
  aa::asio_timer clock{loop.get_executor()};
  aa::seeded_random random{2026};
  aa::memory_store store{loop.get_executor()};  // yours: derive from aa::store and aa::server_source
  aa::ready_cache cache;
  aa::allocator allocator{loop.get_executor(), cache, store, clock, random};
  aa::reflector reflector{loop.get_executor(), store, cache, clock, random};

  for (auto const* name : {"lobby-1", "lobby-2"}) {
    aa::game_server server;
    server.meta.namespace_ = "default";
    server.meta.name = name;
    server.meta.labels.set(aa::keys::fleet_label, "lobby");
    server.status.state = aa::game_server_state::ready;
    if (!store.create(server)) return 1;
  }

  aa::game_server_allocation wanted;
  wanted.meta.namespace_ = "default";
  wanted.spec.selectors.emplace_back().labels.match_labels.set(aa::keys::fleet_label, "lobby");

  int allocated = 0;
  int exhausted = 0;
  reflector.start();
  reflector.async_wait_synced([&](aa::error_code) {
    for (int request = 0; request < 3; ++request) {
      allocator.async_allocate(wanted, std::nullopt, {}, [&](aa::error_code error, aa::allocation_result result) {
        if (result.result == aa::outcome::allocated) ++allocated;
        if (result.result == aa::outcome::exhausted) ++exhausted;
        std::cout << (error ? error.message() : to_string(key_of(result.server->meta))) << '\n';
        if (allocated + exhausted == 3) reflector.stop();
      });
    }
  });
  loop.run();
  return allocated == 2 && exhausted == 1 ? 0 : 1;
}
