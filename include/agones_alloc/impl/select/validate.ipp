#pragma once

#include <agones_alloc/select/match.hpp>
#include <agones_alloc/select/validate.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// "Rule n" is the number of spec 2.4. Texts are the reference's, slips included: clients may match on them (Q32).
namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::size_t max_annotation_bytes = 256 * 1024;

/// More problems than this are not looked for: a short request must not be worth a long answer.
inline constexpr std::size_t max_field_errors = 100;
inline auto enough(field_errors const& out) noexcept -> bool { return out.size() > max_field_errors; }

inline void add_invalid(field_errors& out, std::string field, std::string value, std::string detail) {
  out.push_back({field_error_type::invalid, std::move(field), std::move(value), std::move(detail)});
}

inline void add_gated(field_errors& out, std::string field, std::string_view suffix) {
  out.push_back({field_error_type::forbidden, std::move(field), "",
                 "Feature CountsAndLists must be enabled" + std::string{suffix}});
}

inline void refuse_negative(field_errors& out, std::string field, std::int64_t value) {
  if (value < 0) add_invalid(out, std::move(field), std::to_string(value), "must be greater than or equal to 0");
}

/// Rules 8, 9 and 11: a maximum under its minimum, where 0 means no maximum.
inline void refuse_below(field_errors& out, std::string const& field, std::string_view what, std::int64_t least,
                         std::int64_t most) {
  if (most == 0 || most >= least) return;
  auto const word = std::string{what};
  add_invalid(out, field, std::to_string(most),
              "max" + word + " must zero or greater than min" + word + " " + std::to_string(least));
}

/// A label selector in one line: the reference prints a Go struct here.
inline auto shown(label_selector const& selector) -> std::string {
  std::string out = "{";
  auto const separate = [&out] {
    if (out.size() > 1) out += ", ";
  };
  for (auto const [key, value] : selector.match_labels) {
    separate();
    out.append(key).append("=").append(value);
  }
  for (auto const& [key, op, values] : selector.match_expressions) {
    separate();
    out.append(key.view()).append(" ").append(op.view());
    if (values.empty()) continue;
    out += " (";
    for (std::size_t i = 0; i != values.size(); ++i) out.append(i == 0 ? "" : ", ").append(values[i].view());
    out += ")";
  }
  return out + "}";
}

inline void check_players(field_errors& out, std::string const& path, player_selector const& players) {
  refuse_negative(out, path + ".minAvailable", players.min_available);  // rule 4
  refuse_negative(out, path + ".maxAvailable", players.max_available);  // rule 5
  if (players.min_available > players.max_available) {                  // rule 6: here 0 is not "no maximum"
    add_invalid(out, path + ".minAvailable", std::to_string(players.min_available),
                "minAvailable cannot be greater than maxAvailable");
  }
}

/// Rules 7 to 9.
inline void check_counters(field_errors& out, std::string const& path, named_map<counter_selector> const& counters) {
  for (auto const& [name, wanted] : counters) {
    if (enough(out)) return;
    auto const at = path + "[" + name.str() + "]";
    refuse_negative(out, at + ".minCount", wanted.min_count);
    refuse_negative(out, at + ".maxCount", wanted.max_count);
    refuse_below(out, at, "Count", wanted.min_count, wanted.max_count);
    refuse_negative(out, at + ".minAvailable", wanted.min_available);
    refuse_negative(out, at + ".maxAvailable", wanted.max_available);
    refuse_below(out, at, "Available", wanted.min_available, wanted.max_available);
  }
}

/// Rules 10 and 11.
inline void check_lists(field_errors& out, std::string const& path, named_map<list_selector> const& lists) {
  for (auto const& [name, wanted] : lists) {
    if (enough(out)) return;
    auto const at = path + "[" + name.str() + "]";
    refuse_negative(out, at + ".minAvailable", wanted.min_available);
    refuse_negative(out, at + ".maxAvailable", wanted.max_available);
    refuse_below(out, at, "Available", wanted.min_available, wanted.max_available);
  }
}

inline void check_selector(field_errors& out, std::string const& path, game_server_selector const& selector,
                           feature_gates gates) {
  std::vector<label_clause> unused;
  if (auto const reason = compile_labels(selector.labels, unused)) {  // rule 2
    add_invalid(out, path + ".labelSelector", shown(selector.labels), "Error converting label selector: " + *reason);
  }
  if (auto const& state = selector.game_server_state; state && *state != "Ready" && *state != "Allocated") {  // rule 3
    add_invalid(out, path + ".gameServerState", go_quoted(*state), "GameServerState must be either Allocated or Ready");
  }
  if (gates.player_allocation_filter && selector.players) check_players(out, path + ".players", *selector.players);
  if (selector.counters) {
    if (gates.counts_and_lists) {
      check_counters(out, path + ".counters", *selector.counters);
    } else {
      add_gated(out, path + ".counters", "");  // rule 12
    }
  }
  if (selector.lists) {
    if (gates.counts_and_lists) {
      check_lists(out, path + ".lists", *selector.lists);
    } else {
      add_gated(out, path + ".lists", "");  // rule 13
    }
  }
}

inline void check_priorities(field_errors& out, std::vector<priority> const& priorities) {
  for (std::size_t i = 0; i != priorities.size() && !enough(out); ++i) {
    auto const path = "spec.priorities[" + std::to_string(i) + "]";
    auto const& [type, key, order] = priorities[i];
    if (type != "Counter" && type != "List") {  // rule 17
      add_invalid(out, path, go_quoted(type), R"(type must be "Counter" or "List")");
    }
    if (key.empty()) add_invalid(out, path, go_quoted(type), "key must not be nil");  // rule 18 shows the type
    if (order != "Ascending" && order != "Descending") {                              // rule 19
      add_invalid(out, path, go_quoted(order), R"(order must be "Ascending" or "Descending")");
    }
  }
}

inline void check_counter_actions(field_errors& out, named_map<counter_action> const& counters) {
  for (auto const& [name, action] : counters) {
    if (enough(out)) return;
    auto const path = "spec.counters[" + name.str() + "]";
    if (action.amount) refuse_negative(out, path + ".amount", *action.amount);        // rule 20
    if (action.capacity) refuse_negative(out, path + ".capacity", *action.capacity);  // rule 21
    if (action.amount && !action.action) {                                            // rule 22
      add_invalid(out, path, R"("null")", R"(action must be "Increment" or "Decrement" if the amount is not nil)");
    }
    if (action.action && !action.amount) {  // rule 23
      add_invalid(out, path, R"("null")", "amount must not be nil if action is not nil");
    }
  }
}

/// The gate's own rules 14 to 16, or what is inside.
inline void check_counts_and_lists(field_errors& out, allocation_spec const& spec, feature_gates gates) {
  if (!gates.counts_and_lists) {
    if (spec.priorities) add_gated(out, "spec.priorities", " if Priorities is specified");
    if (spec.counters) add_gated(out, "spec.counters", " if Counters is specified");
    if (spec.lists) add_gated(out, "spec.lists", " if Lists is specified");
    return;
  }
  if (spec.priorities) check_priorities(out, *spec.priorities);
  if (spec.counters) check_counter_actions(out, *spec.counters);
  if (!spec.lists) return;
  for (auto const& [name, action] : *spec.lists) {  // rule 24
    if (enough(out)) return;
    if (action.capacity) refuse_negative(out, "spec.lists[" + name.str() + "].capacity", *action.capacity);
  }
}

inline auto ascii_lowered(std::string_view text) -> std::string {
  std::string out{text};
  for (auto& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

inline void check_patch(field_errors& out, meta_patch const& patch) {
  for (auto const [key, value] : patch.labels) {
    if (enough(out)) return;
    for (auto& text : qualified_name_problems(key)) {  // rule 25
      add_invalid(out, "spec.metadata.labels", go_quoted(key), std::move(text));
    }
    for (auto& text : label_value_problems(value)) {  // rule 26
      add_invalid(out, "spec.metadata.labels", go_quoted(value), std::move(text));
    }
  }
  std::size_t bytes = 0;
  for (auto const [key, value] : patch.annotations) {
    if (enough(out)) return;
    bytes += key.size() + value.size();
    for (auto& text : qualified_name_problems(ascii_lowered(key))) {  // rule 27
      add_invalid(out, "spec.metadata.annotations", go_quoted(key), std::move(text));
    }
  }
  if (bytes > max_annotation_bytes) {  // rule 28
    out.push_back({field_error_type::too_long, "spec.metadata.annotations", "",
                   "may not be more than " + std::to_string(max_annotation_bytes) + " bytes"});
  }
}

}  // namespace detail

AGONES_ALLOC_DECL auto validate(game_server_allocation const& gsa, feature_gates gates) -> field_errors {
  field_errors out;
  auto const& spec = gsa.spec;
  if (spec.scheduling != "Packed" && spec.scheduling != "Distributed") {  // rule 1
    out.push_back({field_error_type::not_supported, "spec.scheduling", go_quoted(spec.scheduling),
                   R"(supported values: "Packed", "Distributed")"});
  }
  // All three, whichever is used: a request the reference refuses is refused here (Q32).
  detail::check_selector(out, "spec.required", spec.required, gates);
  for (std::size_t i = 0; i != spec.preferred.size() && !detail::enough(out); ++i) {
    detail::check_selector(out, "spec.preferred[" + std::to_string(i) + "]", spec.preferred[i], gates);
  }
  for (std::size_t i = 0; i != spec.selectors.size() && !detail::enough(out); ++i) {
    detail::check_selector(out, "spec.selectors[" + std::to_string(i) + "]", spec.selectors[i], gates);
  }
  detail::check_counts_and_lists(out, spec, gates);
  detail::check_patch(out, spec.metadata);
  if (detail::enough(out)) {
    out.resize(detail::max_field_errors);
    out.push_back({field_error_type::forbidden, "spec", "",
                   "there are more errors; the first " + std::to_string(detail::max_field_errors) + " are shown"});
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
