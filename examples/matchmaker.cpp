// A matchmaker that embeds the allocator: the core only, no HTTP, no JSON, no TLS.
//
// It keeps its servers in a store in memory (put your own behind the `store` port), pairs players as they come and
// asks for a server per match. Prints what it did; ends with 0 when every match got what it should.
#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/reflector.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/select/request.hpp>

#include <boost/asio/io_context.hpp>

#include <cstdio>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace agones_alloc;

namespace {

void add_fleet(memory_store& store, std::string const& fleet, int servers) {
  for (int i = 0; i < servers; ++i) {
    game_server server;
    server.meta.namespace_ = "default";
    server.meta.name = fleet + "-" + std::to_string(i);
    server.meta.labels.set(keys::fleet_label, fleet);
    server.status.state = game_server_state::ready;
    server.status.address = "192.0.2.10";
    server.status.node_name = "node-" + std::to_string(i % 2);
    server.status.ports.push_back({"game", 7000 + i});
    store.create(server);
  }
}

// Made once, used for every match: defaults, validation and compiling are done here.
auto ask_for(std::string const& fleet) -> request_ptr {
  game_server_allocation wanted;
  wanted.meta.namespace_ = "default";
  game_server_selector selector;
  selector.labels.match_labels.set(keys::fleet_label, fleet);
  wanted.spec.selectors.push_back(std::move(selector));
  wanted.spec.metadata.labels.set("example.com/match", "casual");
  auto made = allocation_request::make(std::move(wanted));
  if (auto* const errors = std::get_if<field_errors>(&made)) {
    std::fprintf(stderr, "%s\n", to_string(*errors).c_str());
    return nullptr;
  }
  return std::get<request_ptr>(std::move(made));
}

}  // namespace

auto main() -> int {
  boost::asio::io_context context{1};
  memory_store store{context.get_executor()};
  asio_timer clock{context.get_executor()};
  seeded_random watching{1};
  seeded_random choosing{2};
  ready_cache cache;
  add_fleet(store, "arena", 3);

  reflector reflects{context.get_executor(), store, cache, clock, watching};
  allocator servers{context.get_executor(), cache, store, clock, choosing};
  auto const arena = ask_for("arena");
  if (arena == nullptr) return 1;

  std::vector<std::string> queue{"ann", "bob", "cy", "dee", "eve", "flo", "gus", "hal"};
  int open = 0;
  int started = 0;
  int without = 0;
  auto const match = [&](std::string a, std::string b) {
    ++open;
    servers.async_allocate(arena, {}, [&, a, b](error_code ec, allocation_result result) {
      if (!ec) {
        ++started;
        auto const& server = *result.server;
        std::printf("%s and %s play on %s at %s:%d\n", a.c_str(), b.c_str(), server.meta.name.str().c_str(),
                    server.status.address.str().c_str(), server.status.ports.front().port);
      } else {
        ++without;
        std::printf("%s and %s have to wait: %s\n", a.c_str(), b.c_str(), std::string{to_string(result.result)}.c_str());
      }
      if (--open == 0) reflects.stop();  // nothing is left to do: the context runs out of work
    });
  };

  reflects.async_wait_synced([&](error_code ec) {
    if (ec) return;
    for (std::size_t i = 0; i + 1 < queue.size(); i += 2) match(queue[i], queue[i + 1]);
  });
  reflects.start();
  context.run();
  return started == 3 && without == 1 ? 0 : 1;
}
