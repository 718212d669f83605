#pragma once

#include <agones_alloc/json/detail/read_meta.hpp>
#include <agones_alloc/json/detail/read_selector.hpp>
#include <agones_alloc/json/detail/read_status.hpp>
#include <agones_alloc/json/read_allocation.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void read_value(reader& in, place const& at, boost::json::value const& value, multi_cluster_setting& out) {
  read_members(in, at, value, field{"enabled", out.enabled}, field{"policySelector", out.policy_selector});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, allocation_spec& out) {
  read_members(in, at, value, field{"multiClusterSetting", out.multi_cluster}, field{"required", out.required},
               field{"preferred", out.preferred}, field{"priorities", out.priorities},
               field{"selectors", out.selectors}, field{"scheduling", out.scheduling}, field{"metadata", out.metadata},
               field{"counters", out.counters}, field{"lists", out.lists});
  in.check_word(at.member("scheduling"), out.scheduling, {"", "Packed", "Distributed"});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, allocation_status& out) {
  read_members(in, at, value, field{"state", out.state}, field{"gameServerName", out.game_server_name},
               field{"ports", out.ports}, field{"address", out.address}, field{"addresses", out.addresses},
               field{"nodeName", out.node_name}, field{"source", out.source}, field{"metadata", out.metadata},
               field{"counters", out.counters}, field{"lists", out.lists});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, game_server_allocation& out) {
  read_members(in, at, value, field{"kind", out.kind}, field{"apiVersion", out.api_version},
               field{"metadata", out.meta}, field{"spec", out.spec}, field{"status", out.status});
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto read_game_server_allocation(boost::json::value const& value, json_read_options const& options)
    -> decoded<game_server_allocation> {
  // The type first: a whole Fleet must be refused as a Fleet, not for one of its fields.
  if (auto wrong = detail::wire::wrong_type(value, "GameServerAllocation", {"allocation.agones.dev/v1"}))
    return *std::move(wrong);
  return detail::wire::run_reader<game_server_allocation>(
      options, [&](detail::wire::reader& in, detail::wire::place const& at, auto& out) {
        detail::wire::read_nullable(in, at, value, out);
      });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
