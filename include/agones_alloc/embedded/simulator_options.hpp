// The simulated cluster that fleets run on.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/embedded/fleet_settings.hpp>
#include <agones_alloc/model/field_error.hpp>

#include <cstdint>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Options of a simulation. The same options, fleets and calls give the same servers, names, ports and times.
struct simulator_options {
  std::uint64_t seed{1};

  std::uint32_t node_count{3};            ///< nodes to begin with, 1 to max_nodes
  std::uint32_t max_nodes{10'000};        ///< nodes are added while all are full, up to this many; at most 100,000
  std::uint32_t node_capacity{64};        ///< servers on one node, 1 to 10,000
  std::string node_prefix{"node-"};       ///< nodes are called <prefix>1, <prefix>2, ...
  std::string first_address{"10.0.0.1"};  ///< IPv4 address of the first node, counted up for the others
  bool same_address{false};               ///< all nodes have the first address, for instance 127.0.0.1

  std::int32_t min_port{7000};  ///< host ports handed out, unique within a node, both bounds included
  std::int32_t max_port{8000};

  fleet_settings settings{};  ///< of fleets whose annotations do not say otherwise
  double speed{1};            ///< simulated seconds in a second, above 0, at most 1,000,000

  std::uint32_t max_servers{1'000'000};  ///< alive at once, 1 to 10,000,000; at the bound nothing is created

  friend auto operator==(simulator_options const&, simulator_options const&) -> bool = default;
};

/// Every option that is out of its range.
AGONES_ALLOC_DECL auto validate(simulator_options const&) -> field_errors;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/embedded/simulator_options.ipp>
#endif
