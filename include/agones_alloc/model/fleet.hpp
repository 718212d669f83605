// Fleet of agones.dev/v1: what allocation and fleet information read (spec 1.5).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// One entry of the template's spec.ports, as far as a simulated server needs it.
struct game_server_port_template {
  shared_string name;
  shared_string port_policy;  ///< Dynamic (default), Static, Passthrough, None
  shared_string protocol;     ///< UDP (default), TCP, TCPUDP
  std::int32_t container_port{0};
  std::int32_t host_port{0};
  friend auto operator==(game_server_port_template const&, game_server_port_template const&) -> bool = default;
};

/// spec.template: the game servers a fleet makes.
struct game_server_template {
  string_map labels;
  string_map annotations;
  std::vector<game_server_port_template> ports;
  named_map<counter_status> counters;  ///< initial values, spec.counters
  named_map<list_status> lists;
  std::optional<std::int64_t> players_initial_capacity;
  shared_string spec;  ///< JSON text of the whole GameServer spec, pod template included
  friend auto operator==(game_server_template const&, game_server_template const&) -> bool = default;
};

/// Sums over a fleet's servers; the `allocated` pair covers Allocated servers only.
struct aggregated_capacity {
  std::int64_t allocated_count{0};
  std::int64_t allocated_capacity{0};
  std::int64_t count{0};
  std::int64_t capacity{0};
  friend auto operator==(aggregated_capacity const&, aggregated_capacity const&) -> bool = default;
};

struct fleet_status {
  std::int32_t replicas{0};
  std::int32_t ready_replicas{0};
  std::int32_t reserved_replicas{0};
  std::int32_t allocated_replicas{0};
  std::optional<counter_status> players;
  named_map<aggregated_capacity> counters;
  named_map<aggregated_capacity> lists;
  friend auto operator==(fleet_status const&, fleet_status const&) -> bool = default;
};

struct fleet {
  object_meta meta;
  std::int32_t replicas{0};  ///< spec.replicas
  shared_string scheduling;  ///< spec.scheduling; "" means Packed
  std::vector<priority> priorities;
  std::optional<meta_patch> allocation_overflow;
  game_server_template server_template;
  fleet_status status;
  friend auto operator==(fleet const&, fleet const&) -> bool = default;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
