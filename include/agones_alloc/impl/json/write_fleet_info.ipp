#pragma once

#include <agones_alloc/impl/json/write_fleet.ipp>
#include <agones_alloc/json/detail/write_members.hpp>
#include <agones_alloc/json/fleet_info.hpp>
#include <agones_alloc/json/time.hpp>

#include <chrono>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void write_value(writer& to, capacity_info const& sums) {
  to.open('{');
  write_member(to, "allocatedCount", sums.allocated_count);
  write_member(to, "allocatedCapacity", sums.allocated_capacity);
  write_member(to, "count", sums.count);
  write_member(to, "capacity", sums.capacity);
  write_member(to, "free", sums.free);
  to.close('}');
}

inline void write_flag(writer& to, std::string_view name, bool value) {
  to.key(name);
  to.raw(value ? "true" : "false");
}

inline void write_fleet_key(writer& to, fleet_info const& fleet) {
  write_member(to, "clusterName", fleet.cluster);
  write_member(to, "namespace", fleet.namespace_);
  write_member(to, "fleetName", fleet.name);
}

inline void write_nodes(writer& to, std::vector<node_share> const& nodes) {
  to.key("nodes");
  to.open('{');
  for (auto const& one : nodes) {
    to.entry(one.node);
    to.open('{');
    write_member(to, "totalGameservers", one.total);
    write_member(to, "readyGameservers", one.ready);
    write_member(to, "allocatedGameservers", one.allocated);
    to.close('}');
  }
  to.close('}');
}

inline void write_recount(writer& to, fleet_recount const& count, fleet_info_parts parts) {
  to.open('{');
  write_member(to, "totalGameservers", count.total);
  write_member(to, "readyGameservers", count.in(game_server_state::ready));
  write_member(to, "reservedGameservers", count.in(game_server_state::reserved));
  write_member(to, "allocatedGameservers", count.in(game_server_state::allocated));
  write_member(to, "allocatingGameservers", count.in(game_server_state::allocating));
  write_member(to, "shuttingDownGameservers", count.shutting_down);
  to.key("states");
  to.open('{');
  for (std::size_t i = 0; i != count.states.size(); ++i) {
    if (count.states[i] == 0) continue;
    auto const word = to_string(static_cast<game_server_state>(i));
    write_member(to, word.empty() ? std::string_view{"Unset"} : word, count.states[i]);
  }
  to.close('}');
  write_present(to, "players", count.players);
  write_non_empty(to, "counters", count.counters);
  write_non_empty(to, "lists", count.lists);
  write_member(to, "nodeCount", count.nodes.size());
  if (parts.nodes) write_nodes(to, count.nodes);
  to.close('}');
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto format_wall_time(fleet_info::wall_time time) -> std::string {
  auto const seconds = std::chrono::floor<std::chrono::seconds>(time);
  auto out = format_time(seconds);
  if (!out.ends_with('Z')) return out;
  auto const ms = std::chrono::floor<std::chrono::milliseconds>(time - seconds).count();
  out.back() = '.';
  for (int part : {100, 10, 1}) out += static_cast<char>('0' + ms / part % 10);
  return out + 'Z';
}

AGONES_ALLOC_DECL void append_json(std::string& out, fleet_info const& fleet, fleet_info_parts parts) {
  detail::wire::writer to{out};
  to.open('{');
  detail::wire::write_fleet_key(to, fleet);
  detail::wire::write_non_empty(to, "uid", fleet.uid);
  detail::wire::write_non_empty(to, "resourceVersion", fleet.resource_version);
  detail::wire::write_non_zero(to, "generation", fleet.generation);
  detail::wire::write_member(to, "labels", fleet.labels);
  if (parts.annotations) detail::wire::write_member(to, "annotations", fleet.annotations);
  detail::wire::write_non_empty(to, "scheduling", fleet.scheduling);
  detail::wire::write_present(to, "desiredGameservers", fleet.desired);
  if (auto const& status = fleet.status) {
    detail::wire::write_member(to, "totalGameservers", status->replicas);
    detail::wire::write_member(to, "readyGameservers", status->ready_replicas);
    detail::wire::write_member(to, "reservedGameservers", status->reserved_replicas);
    detail::wire::write_member(to, "allocatedGameservers", status->allocated_replicas);
    detail::wire::write_present(to, "players", status->players);
    detail::wire::write_non_empty(to, "counters", status->counters);
    detail::wire::write_non_empty(to, "lists", status->lists);
  }
  if (fleet.recount) {
    to.key("recount");
    detail::wire::write_recount(to, *fleet.recount, parts);
  }
  to.key("observedTime");
  to.text(format_wall_time(fleet.observed));
  detail::wire::write_flag(to, "stale", fleet.stale);
  to.close('}');
}

AGONES_ALLOC_DECL void append_key_json(std::string& out, fleet_info const& fleet) {
  detail::wire::writer to{out};
  to.open('{');
  detail::wire::write_fleet_key(to, fleet);
  to.close('}');
}

AGONES_ALLOC_DECL void append_json(std::string& out, cluster_info const& cluster) {
  detail::wire::writer to{out};
  to.open('{');
  detail::wire::write_member(to, "clusterName", cluster.name);
  detail::wire::write_member(to, "endpoint", cluster.endpoint);
  detail::wire::write_flag(to, "local", cluster.local);
  detail::wire::write_member(to, "code", cluster.code);
  detail::wire::write_member(to, "message", cluster.message);
  detail::wire::write_flag(to, "synced", cluster.synced);
  detail::wire::write_flag(to, "stale", cluster.stale);
  to.key("observedTime");
  to.text(format_wall_time(cluster.observed));
  to.close('}');
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
