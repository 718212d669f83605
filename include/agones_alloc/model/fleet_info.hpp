// What is told about fleets and clusters: rows of the fleet directory (spec 12.1).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Of a counter, a list or players: sums over servers that are not being deleted.
struct capacity_info {
  std::int64_t allocated_count{0};     ///< of Allocated servers only
  std::int64_t allocated_capacity{0};
  std::int64_t count{0};
  std::int64_t capacity{0};
  std::int64_t free{0};  ///< what is left on Ready and Allocated servers
  friend auto operator==(capacity_info const&, capacity_info const&) -> bool = default;
};

/// A fleet's servers on one node.
struct node_share {
  shared_string node;
  std::int32_t total{0};  ///< not being deleted
  std::int32_t ready{0};
  std::int32_t allocated{0};
  friend auto operator==(node_share const&, node_share const&) -> bool = default;
};

inline constexpr std::size_t game_server_states = static_cast<std::size_t>(game_server_state::other) + 1;

/// Counted from the servers themselves: moves with each of them, and is ahead of the Fleet's status.
struct fleet_recount {
  std::int32_t total{0};          ///< servers that are not being deleted
  std::int32_t shutting_down{0};  ///< servers that are
  std::array<std::int32_t, game_server_states> states{};  ///< of those in `total`, by state
  std::optional<capacity_info> players;
  named_map<capacity_info> counters;
  named_map<capacity_info> lists;
  std::vector<node_share> nodes;  ///< by name; servers without a node are not in it

  auto in(game_server_state state) const noexcept -> std::int32_t { return states[static_cast<std::size_t>(state)]; }
  friend auto operator==(fleet_recount const&, fleet_recount const&) -> bool = default;
};

/// A fleet of one cluster, as it was at a moment. Never changed; another one takes its place.
struct fleet_info {
  using wall_time = std::chrono::sys_time<std::chrono::nanoseconds>;

  shared_string cluster;
  shared_string namespace_;
  shared_string name;
  shared_string uid;               ///< "" where the Fleet itself is not known, only servers of it
  shared_string resource_version;
  std::int64_t generation{0};
  string_map labels;
  string_map annotations;
  shared_string scheduling;
  std::optional<std::int32_t> desired;     ///< spec.replicas; nullopt: not known
  std::optional<fleet_status> status;      ///< the Fleet's own status: what its controller last wrote
  std::optional<fleet_recount> recount;    ///< nullopt: the cluster does not tell
  wall_time observed{};                    ///< when it was first looked at like this
  bool stale{false};                       ///< its cluster cannot be heard at present: these are the last values
};
using fleet_info_ptr = std::shared_ptr<fleet_info const>;

/// How a cluster is heard.
struct cluster_info {
  shared_string name;
  shared_string endpoint;  ///< "" for the local one
  int code{0};             ///< gRPC code: 0 is well; 12 where it has no directory, 14 where it cannot be reached
  shared_string message;
  bool local{false};
  bool synced{false};      ///< its fleets are complete, as far as they go
  bool stale{false};       ///< its fleets are the last values known
  fleet_info::wall_time observed{};  ///< when this became so
  friend auto operator==(cluster_info const&, cluster_info const&) -> bool = default;
};
using cluster_info_ptr = std::shared_ptr<cluster_info const>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
