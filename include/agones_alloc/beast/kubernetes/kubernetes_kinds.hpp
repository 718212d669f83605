// The kinds of objects that kubernetes_watch and kubernetes_mirror know.
#pragma once

#include <agones_alloc/beast/kubernetes/api_path.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/json/read_fleet.hpp>
#include <agones_alloc/json/read_game_server.hpp>
#include <agones_alloc/json/read_node.hpp>
#include <agones_alloc/json/read_policy.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct game_server_kind {
  using object = game_server;
  static constexpr api_resource resource{"agones.dev/v1", "gameservers"};
  static constexpr bool needs_spec = false;
  static auto read(boost::json::value const& value) -> decoded<game_server> {
    return read_game_server(value, {.check_quantities = false});
  }
};

struct fleet_kind {
  using object = fleet;
  static constexpr api_resource resource{"agones.dev/v1", "fleets"};
  static constexpr bool needs_spec = true;
  static auto read(boost::json::value const& value) -> decoded<fleet> {
    return read_fleet(value, {.check_quantities = false});
  }
};

struct policy_kind {
  using object = game_server_allocation_policy;
  static constexpr api_resource resource{"multicluster.agones.dev/v1", "gameserverallocationpolicies"};
  static constexpr bool needs_spec = true;
  static auto read(boost::json::value const& value) -> decoded<game_server_allocation_policy> {
    return read_game_server_allocation_policy(value);
  }
};

/// Without namespace.
struct node_kind {
  using object = cluster_node;
  static constexpr api_resource resource{"v1", "nodes"};
  static constexpr bool needs_spec = true;
  static auto read(boost::json::value const& value) -> decoded<cluster_node> { return read_cluster_node(value); }
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
