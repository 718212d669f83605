// The parts that game servers, allocations and fleets share (spec 1.3 to 1.5).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/write_members.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/game_server.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

inline void write_value(writer& to, game_server_port const& port) {
  to.open('{');
  write_non_empty(to, "name", port.name);
  write_member(to, "port", port.port);
  to.close('}');
}

inline void write_value(writer& to, node_address const& address) {
  to.open('{');
  write_member(to, "type", address.type);
  write_member(to, "address", address.address);
  to.close('}');
}

inline void write_value(writer& to, counter_status const& counter) {
  to.open('{');
  write_member(to, "count", counter.count);
  write_member(to, "capacity", counter.capacity);
  to.close('}');
}

inline void write_value(writer& to, list_status const& list) {
  to.open('{');
  write_member(to, "capacity", list.capacity);
  write_or_null(to, "values", list.values);
  to.close('}');
}

inline void write_value(writer& to, priority const& value) {
  to.open('{');
  write_member(to, "type", value.type);
  write_member(to, "key", value.key);
  write_member(to, "order", value.order);
  to.close('}');
}

inline void write_labels(writer& to, string_map const& labels, string_map const& annotations) {
  to.open('{');
  write_non_empty(to, "labels", labels);
  write_non_empty(to, "annotations", annotations);
  to.close('}');
}
inline void write_value(writer& to, meta_patch const& patch) { write_labels(to, patch.labels, patch.annotations); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
