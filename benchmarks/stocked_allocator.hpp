// An allocator over a memory store with so many Ready servers, for front ends to be measured on.
#pragma once

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/beast/allocator_backend.hpp>

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

inline auto ready_server(std::size_t number) -> agones_alloc::game_server {
  static agones_alloc::string_map const labels{{"agones.dev/fleet", "simple"}, {"agones.dev/gameserverset", "simple-abcde"}, {"mode", "duel"}};
  agones_alloc::game_server server;
  server.meta.name = "simple-abcde-" + std::to_string(number);
  server.meta.namespace_ = "default";
  server.meta.labels = labels;
  server.status.state = agones_alloc::game_server_state::ready;
  server.status.node_name = "node-" + std::to_string(number / 64);
  server.status.address = "10.0.0.1";
  server.status.addresses = {{"ExternalIP", "10.0.0.1"}};
  server.status.ports = {{"default", static_cast<std::int32_t>(7000 + number % 1000)}};
  return server;
}

struct stocked_allocator {
  explicit stocked_allocator(std::size_t servers) {
    for (std::size_t i = 0; i != servers; ++i) cache.store(store.create(ready_server(i)).value());
  }

  boost::asio::io_context io{1};
  agones_alloc::asio_timer time{io.get_executor()};
  agones_alloc::memory_store store{io.get_executor(), agones_alloc::memory_store_options{.clock = &time}};
  agones_alloc::ready_cache cache;
  agones_alloc::seeded_random random{1};
  agones_alloc::allocator allocate{io.get_executor(), cache, store, time, random};
  agones_alloc::allocator_backend backend{allocate};
};

}  // namespace bench
