#pragma once

#include <agones_alloc/json/detail/write_meta.hpp>
#include <agones_alloc/json/detail/write_status.hpp>
#include <agones_alloc/json/write.hpp>
#include <agones_alloc/model/fleet.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void write_value(writer& to, aggregated_capacity const& sums) {
  to.open('{');
  write_member(to, "allocatedCount", sums.allocated_count);
  write_member(to, "allocatedCapacity", sums.allocated_capacity);
  write_member(to, "count", sums.count);
  write_member(to, "capacity", sums.capacity);
  to.close('}');
}

inline void write_value(writer& to, game_server_template const& made) {
  to.open('{');
  to.key("metadata");
  write_labels(to, made.labels, made.annotations);
  to.key("spec");
  to.raw(made.spec.empty() ? std::string_view{"{}"} : made.spec.view());
  to.close('}');
}

inline void write_value(writer& to, fleet_status const& status) {
  to.open('{');
  write_member(to, "replicas", status.replicas);
  write_member(to, "readyReplicas", status.ready_replicas);
  write_member(to, "reservedReplicas", status.reserved_replicas);
  write_member(to, "allocatedReplicas", status.allocated_replicas);
  write_present(to, "players", status.players);
  write_non_empty(to, "counters", status.counters);
  write_non_empty(to, "lists", status.lists);
  to.close('}');
}

}  // namespace detail::wire

AGONES_ALLOC_DECL void append_json(std::string& out, fleet const& value) {
  detail::wire::writer to{out};
  detail::wire::open_object(to, "Fleet", "agones.dev/v1", value.meta, value.meta.name);
  to.key("spec");
  to.open('{');
  detail::wire::write_member(to, "replicas", value.replicas);
  detail::wire::write_present(to, "allocationOverflow", value.allocation_overflow);
  detail::wire::write_member(to, "scheduling", value.scheduling);
  detail::wire::write_non_empty(to, "priorities", value.priorities);
  detail::wire::write_member(to, "template", value.server_template);
  to.close('}');
  detail::wire::write_member(to, "status", value.status);
  to.close('}');
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
