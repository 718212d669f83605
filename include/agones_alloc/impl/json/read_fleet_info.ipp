#pragma once

#include <agones_alloc/impl/json/read_fleet.ipp>
#include <agones_alloc/json/detail/read_members.hpp>
#include <agones_alloc/json/detail/read_status.hpp>
#include <agones_alloc/json/fleet_info.hpp>
#include <agones_alloc/json/time.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void read_value(reader& in, place const& at, boost::json::value const& value, capacity_info& out) {
  read_members(in, at, value, field{"allocatedCount", out.allocated_count},
               field{"allocatedCapacity", out.allocated_capacity}, field{"count", out.count}, field{"capacity", out.capacity},
               field{"free", out.free});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, node_share& out) {
  read_members(in, at, value, field{"totalGameservers", out.total}, field{"readyGameservers", out.ready},
               field{"allocatedGameservers", out.allocated});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, fleet_recount& out) {
  named_map<std::int32_t> states;
  named_map<node_share> nodes;
  read_members(in, at, value, field{"totalGameservers", out.total}, field{"shuttingDownGameservers", out.shutting_down},
               field{"states", states}, field{"players", out.players}, field{"counters", out.counters},
               field{"lists", out.lists}, field{"nodes", nodes});
  for (auto const& [word, count] : states) {
    auto const state = word == "Unset" ? game_server_state::unset : game_server_state_from(word);
    auto& sum = out.states[static_cast<std::size_t>(state)];  // words that are not known share one
    auto const wide = std::int64_t{sum} + count;
    sum = static_cast<std::int32_t>(std::clamp<std::int64_t>(wide, std::numeric_limits<std::int32_t>::min(),
                                                             std::numeric_limits<std::int32_t>::max()));
  }
  for (auto& [name, share] : nodes) {
    share.node = name;
    out.nodes.push_back(std::move(share));
  }
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto read_fleet_info(boost::json::value const& value, json_read_options const& options)
    -> decoded<fleet_info> {
  namespace wire = detail::wire;
  return wire::run_reader<fleet_info>(options, [&](wire::reader& in, wire::place const& at, fleet_info& out) {
    std::optional<std::int32_t> total;
    fleet_status status;
    shared_string observed;
    wire::read_members(in, at, value, wire::field{"clusterName", out.cluster}, wire::field{"namespace", out.namespace_},
                       wire::field{"fleetName", out.name}, wire::field{"uid", out.uid},
                       wire::field{"resourceVersion", out.resource_version}, wire::field{"generation", out.generation},
                       wire::field{"labels", out.labels}, wire::field{"annotations", out.annotations},
                       wire::field{"scheduling", out.scheduling}, wire::field{"desiredGameservers", out.desired},
                       wire::field{"totalGameservers", total}, wire::field{"readyGameservers", status.ready_replicas},
                       wire::field{"reservedGameservers", status.reserved_replicas},
                       wire::field{"allocatedGameservers", status.allocated_replicas},
                       wire::field{"players", status.players}, wire::field{"counters", status.counters},
                       wire::field{"lists", status.lists}, wire::field{"recount", out.recount},
                       wire::field{"observedTime", observed}, wire::field{"stale", out.stale});
    if (in.ok() && out.name.empty()) in.fail(decode_fault::type, at.member("fleetName"), "must not be empty");
    if (total) {
      status.replicas = *total;
      out.status = std::move(status);
    }
    // What nanoseconds can hold, and a cluster can mean.
    constexpr timestamp first{std::chrono::seconds{0}};
    constexpr timestamp last{std::chrono::seconds{9'000'000'000}};
    if (auto const time = parse_time(observed); time && *time >= first && *time < last) out.observed = *time;
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
