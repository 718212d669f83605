// proto-JSON pieces: every field is written, 64-bit integers in quotes (spec 8.10).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/write_members.hpp>
#include <agones_alloc/model/allocation.hpp>

#include <optional>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

inline void rest_number(writer& to, std::string_view name, std::int64_t value) {
  to.key(name);
  to.quoted_number(value);
}

inline void rest_wrapper(writer& to, std::string_view name, std::optional<std::int64_t> const& value) {
  if (value) return rest_number(to, name, *value);
  to.key(name);
  to.raw("null");
}

template <class Items, class Write>
void rest_array(writer& to, std::string_view name, Items const& items, Write write) {
  to.key(name);
  to.open('[');
  for (auto const& item : items) write(item);
  to.close(']');
}

template <class Map, class Write>
void rest_map(writer& to, std::string_view name, Map const& map, Write write) {
  to.key(name);
  to.open('{');
  for (auto const& [key, value] : map) {
    to.entry(key);
    write(value);
  }
  to.close('}');
}

inline void rest_labels(writer& to, std::string_view name, meta_patch const& patch) {
  to.key(name);
  to.open('{');
  write_member(to, "labels", patch.labels);
  write_member(to, "annotations", patch.annotations);
  to.close('}');
}

inline void rest_expressions(writer& to, std::vector<label_requirement> const& expressions) {
  rest_array(to, "matchExpressions", expressions, [&to](label_requirement const& one) {
    to.open('{');
    write_member(to, "key", one.key);
    write_member(to, "operator", one.op);
    write_member(to, "values", one.values);
    to.close('}');
  });
}

inline void rest_counter_selectors(writer& to, named_map<counter_selector> const& counters) {
  rest_map(to, "counters", counters, [&to](counter_selector const& counter) {
    to.open('{');
    rest_number(to, "minCount", counter.min_count);
    rest_number(to, "maxCount", counter.max_count);
    rest_number(to, "minAvailable", counter.min_available);
    rest_number(to, "maxAvailable", counter.max_available);
    to.close('}');
  });
}

inline void rest_list_selectors(writer& to, named_map<list_selector> const& lists) {
  rest_map(to, "lists", lists, [&to](list_selector const& list) {
    to.open('{');
    write_member(to, "containsValue", list.contains_value);
    rest_number(to, "minAvailable", list.min_available);
    rest_number(to, "maxAvailable", list.max_available);
    to.close('}');
  });
}

inline void rest_counter_actions(writer& to, named_map<counter_action> const& counters) {
  rest_map(to, "counters", counters, [&to](counter_action const& action) {
    to.open('{');
    write_or_null(to, "action", action.action);
    rest_wrapper(to, "amount", action.amount);
    rest_wrapper(to, "capacity", action.capacity);
    to.close('}');
  });
}

inline void rest_list_actions(writer& to, named_map<list_action> const& lists) {
  rest_map(to, "lists", lists, [&to](list_action const& action) {
    to.open('{');
    write_member(to, "addValues", action.add_values);
    rest_wrapper(to, "capacity", action.capacity);
    write_member(to, "deleteValues", action.delete_values);
    to.close('}');
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
