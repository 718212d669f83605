// Selectors, priorities, actions and label patches (spec 1.3).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/read_members.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/selector.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

inline void read_value(reader& in, place const& at, boost::json::value const& value, label_requirement& out) {
  read_members(in, at, value, field{"key", out.key}, field{"operator", out.op}, field{"values", out.values});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, label_selector& out) {
  read_members(in, at, value, field{"matchLabels", out.match_labels}, field{"matchExpressions", out.match_expressions});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, player_selector& out) {
  read_members(in, at, value, field{"minAvailable", out.min_available}, field{"maxAvailable", out.max_available});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, counter_selector& out) {
  read_members(in, at, value, field{"minCount", out.min_count}, field{"maxCount", out.max_count},
               field{"minAvailable", out.min_available}, field{"maxAvailable", out.max_available});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, list_selector& out) {
  read_members(in, at, value, field{"containsValue", out.contains_value}, field{"minAvailable", out.min_available},
               field{"maxAvailable", out.max_available});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, game_server_selector& out) {
  read_members(in, at, value, field{"matchLabels", out.labels.match_labels},
               field{"matchExpressions", out.labels.match_expressions}, field{"gameServerState", out.game_server_state},
               field{"players", out.players}, field{"counters", out.counters}, field{"lists", out.lists});
  if (out.game_server_state)
    in.check_word(at.member("gameServerState"), *out.game_server_state, {"Ready", "Allocated"});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, priority& out) {
  read_members(in, at, value, field{"type", out.type}, field{"key", out.key}, field{"order", out.order});
  in.check_word(at.member("type"), out.type, {"Counter", "List"});
  in.check_word(at.member("order"), out.order, {"", "Ascending", "Descending"});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, meta_patch& out) {
  read_members(in, at, value, field{"labels", out.labels}, field{"annotations", out.annotations});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, counter_action& out) {
  read_members(in, at, value, field{"action", out.action}, field{"amount", out.amount},
               field{"capacity", out.capacity});
  if (out.action) in.check_word(at.member("action"), *out.action, {"Increment", "Decrement"});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, list_action& out) {
  read_members(in, at, value, field{"addValues", out.add_values}, field{"deleteValues", out.delete_values},
               field{"capacity", out.capacity});
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
