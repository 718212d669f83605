// Selectors, actions and the spec of an allocation (spec 1.3).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/write_meta.hpp>
#include <agones_alloc/json/detail/write_status.hpp>
#include <agones_alloc/model/allocation.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

inline void write_value(writer& to, label_requirement const& requirement) {
  to.open('{');
  write_member(to, "key", requirement.key);
  write_member(to, "operator", requirement.op);
  write_non_empty(to, "values", requirement.values);
  to.close('}');
}

inline void write_label_members(writer& to, label_selector const& selector) {
  write_non_empty(to, "matchLabels", selector.match_labels);
  write_non_empty(to, "matchExpressions", selector.match_expressions);
}
inline void write_value(writer& to, label_selector const& selector) {
  to.open('{');
  write_label_members(to, selector);
  to.close('}');
}

inline void write_value(writer& to, player_selector const& players) {
  to.open('{');
  write_non_zero(to, "minAvailable", players.min_available);
  write_non_zero(to, "maxAvailable", players.max_available);
  to.close('}');
}

inline void write_value(writer& to, counter_selector const& counter) {
  to.open('{');
  write_member(to, "minCount", counter.min_count);
  write_member(to, "maxCount", counter.max_count);
  write_member(to, "minAvailable", counter.min_available);
  write_member(to, "maxAvailable", counter.max_available);
  to.close('}');
}

inline void write_value(writer& to, list_selector const& list) {
  to.open('{');
  write_member(to, "containsValue", list.contains_value);
  write_member(to, "minAvailable", list.min_available);
  write_member(to, "maxAvailable", list.max_available);
  to.close('}');
}

inline void write_value(writer& to, game_server_selector const& selector) {
  to.open('{');
  write_label_members(to, selector.labels);
  write_present(to, "gameServerState", selector.game_server_state);
  write_present(to, "players", selector.players);
  write_non_empty(to, "counters", selector.counters);
  write_non_empty(to, "lists", selector.lists);
  to.close('}');
}

inline void write_value(writer& to, counter_action const& action) {
  to.open('{');
  write_present(to, "action", action.action);
  write_present(to, "amount", action.amount);
  write_present(to, "capacity", action.capacity);
  to.close('}');
}

inline void write_value(writer& to, list_action const& action) {
  to.open('{');
  write_non_empty(to, "addValues", action.add_values);
  write_non_empty(to, "deleteValues", action.delete_values);
  write_present(to, "capacity", action.capacity);
  to.close('}');
}

inline void write_value(writer& to, multi_cluster_setting const& setting) {
  to.open('{');
  if (setting.enabled) {
    to.key("enabled");
    to.raw("true");
  }
  write_member(to, "policySelector", setting.policy_selector);
  to.close('}');
}

inline void write_value(writer& to, allocation_spec const& spec) {
  to.open('{');
  write_member(to, "multiClusterSetting", spec.multi_cluster);
  write_member(to, "required", spec.required);
  write_non_empty(to, "preferred", spec.preferred);
  write_non_empty(to, "priorities", spec.priorities);
  write_non_empty(to, "selectors", spec.selectors);
  write_member(to, "scheduling", spec.scheduling);
  write_member(to, "metadata", spec.metadata);
  write_non_empty(to, "counters", spec.counters);
  write_non_empty(to, "lists", spec.lists);
  to.close('}');
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
