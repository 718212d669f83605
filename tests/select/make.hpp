// Short ways to say servers and requests in tests of the rules.
#pragma once

#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace make {

using namespace agones_alloc;

inline auto server(std::string_view name, std::string_view node = "n1",
                   game_server_state state = game_server_state::ready) -> game_server {
  game_server out;
  out.meta.name = name;
  out.meta.namespace_ = "default";
  out.status.node_name = node;
  out.status.state = state;
  return out;
}

inline auto with_counter(game_server of, std::string_view name, std::int64_t count, std::int64_t capacity)
    -> game_server {
  of.status.counters[name] = {count, capacity};
  return of;
}

inline auto with_list(game_server of, std::string_view name, std::int64_t capacity, std::vector<shared_string> values)
    -> game_server {
  of.status.lists[name] = {capacity, std::move(values)};
  return of;
}

inline auto with_players(game_server of, std::int64_t count, std::int64_t capacity) -> game_server {
  of.status.players = std::make_shared<player_status const>(player_status{count, capacity, {}});
  return of;
}

inline auto labelled(game_server of, string_map labels) -> game_server {
  of.meta.labels = std::move(labels);
  return of;
}

inline auto allocation(std::string_view scheduling = "Packed") -> game_server_allocation {
  game_server_allocation out;
  out.meta.namespace_ = "default";
  out.spec.scheduling = scheduling;
  return out;
}

inline auto selector(string_map labels = {}) -> game_server_selector {
  game_server_selector out;
  out.labels.match_labels = std::move(labels);
  return out;
}

}  // namespace make
