// Made-up servers and fleets for a directory.
#pragma once

#include <agones_alloc/async/fleet_directory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench {

inline auto make_server(std::size_t number, std::size_t fleets) -> agones_alloc::game_server {
  auto const fleet = "f" + std::to_string(number % fleets);
  agones_alloc::game_server server;
  server.meta.name = fleet + "-x7b2-" + std::to_string(number);
  server.meta.namespace_ = "default";
  server.meta.uid = "00000000-0000-4000-8000-" + std::to_string(100'000'000'000 + number);
  server.meta.resource_version = "1";
  server.meta.labels = agones_alloc::string_map{{"agones.dev/fleet", fleet}, {"agones.dev/gameserverset", fleet + "-x7b2"}, {"region", "east"}};
  server.status.state = agones_alloc::game_server_state::ready;
  server.status.node_name = "node-" + std::to_string(number / 64);
  server.status.counters["t"] = {0, 1'000'000'000'000};
  return server;
}

struct quick_random {
  std::uint64_t state{12345};
  auto below(std::uint64_t bound) -> std::uint64_t {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33) % bound;
  }
};

/// So many fleets with a server each.
inline void fill(agones_alloc::fleet_directory& directory, std::size_t count) {
  std::vector<agones_alloc::game_server_ptr> servers;
  std::vector<agones_alloc::fleet_ptr> fleets;
  for (std::size_t i = 0; i != count; ++i) {
    servers.push_back(std::make_shared<agones_alloc::game_server const>(make_server(i, count)));
    agones_alloc::fleet one;
    one.meta.name = "f" + std::to_string(i);
    one.meta.namespace_ = "default";
    one.meta.uid = "11111111-0000-4000-8000-" + std::to_string(100'000'000'000 + i);
    one.meta.labels = agones_alloc::string_map{{"region", "east"}, {"tier", "gold"}};
    one.replicas = 1;
    fleets.push_back(std::make_shared<agones_alloc::fleet const>(std::move(one)));
  }
  directory.replaced(servers, "1");
  directory.set_fleets(fleets);
}

}  // namespace bench
