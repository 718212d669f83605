#pragma once

#include <agones_alloc/json/detail/read_meta.hpp>
#include <agones_alloc/json/detail/read_selector.hpp>
#include <agones_alloc/json/detail/read_template.hpp>
#include <agones_alloc/json/read_fleet.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void read_value(reader& in, place const& at, boost::json::value const& value, aggregated_capacity& out) {
  read_members(in, at, value, field{"allocatedCount", out.allocated_count},
               field{"allocatedCapacity", out.allocated_capacity}, field{"count", out.count},
               field{"capacity", out.capacity});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, fleet_status& out) {
  read_members(in, at, value, field{"replicas", out.replicas}, field{"readyReplicas", out.ready_replicas},
               field{"reservedReplicas", out.reserved_replicas}, field{"allocatedReplicas", out.allocated_replicas},
               field{"players", out.players}, field{"counters", out.counters}, field{"lists", out.lists});
}

struct fleet_spec {
  fleet& target;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, fleet_spec const& out) {
  auto& to = out.target;
  read_members(in, at, value, field{"replicas", to.replicas}, field{"scheduling", to.scheduling},
               field{"priorities", to.priorities}, field{"allocationOverflow", to.allocation_overflow},
               field{"template", to.server_template}, skip("strategy"));
  in.check_word(at.member("scheduling"), to.scheduling, {"", "Packed", "Distributed"});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, fleet& out) {
  fleet_spec const spec{out};
  read_members(in, at, value, skip("kind"), skip("apiVersion"), field{"metadata", out.meta}, field{"spec", spec},
               field{"status", out.status});
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto read_fleet(boost::json::value const& value, json_read_options const& options) -> decoded<fleet> {
  if (auto wrong = detail::wire::wrong_type(value, "Fleet", {"agones.dev/v1"})) return *std::move(wrong);
  return detail::wire::run_reader<fleet>(options, [&](detail::wire::reader& in, detail::wire::place const& at,
                                                      auto& out) { detail::wire::read_value(in, at, value, out); });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
