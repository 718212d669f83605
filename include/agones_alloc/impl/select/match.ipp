#pragma once

#include <agones_alloc/detail/hash.hpp>
#include <agones_alloc/detail/saturating.hpp>
#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/select/detail/clauses.hpp>
#include <agones_alloc/select/kubernetes_names.hpp>
#include <agones_alloc/select/match.hpp>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto label_operator_from(std::string_view word) noexcept -> std::optional<label_operator> {
  if (word == "In") return label_operator::in;
  if (word == "NotIn") return label_operator::not_in;
  if (word == "Exists") return label_operator::exists;
  if (word == "DoesNotExist") return label_operator::does_not_exist;
  return std::nullopt;
}

inline auto joined(std::vector<std::string> const& texts, std::string_view separator) -> std::string {
  std::string out;
  for (auto const& text : texts) {
    if (!out.empty()) out += separator;
    out += text;
  }
  return out;
}

/// The problems of one requirement in one text, in the reference's words; nullopt: none.
inline auto requirement_problem(std::string_view key, label_operator op, std::vector<shared_string> const& values)
    -> std::optional<std::string> {
  std::vector<std::string> problems;
  if (auto const texts = qualified_name_problems(key); !texts.empty()) {
    problems.push_back("key: Invalid value: " + go_quoted(key) + ": " + joined(texts, "; "));
  }
  auto const takes_values = op == label_operator::in || op == label_operator::not_in;
  if (takes_values && values.empty()) {
    problems.emplace_back(
        "values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be empty");
  }
  if (!takes_values && !values.empty()) {
    std::string shown;
    for (auto const& value : values) shown += (shown.empty() ? "" : ", ") + go_quoted(value);
    problems.push_back("values: Invalid value: []string{" + shown +
                       "}: values set must be empty for exists and does not exist");
  }
  for (std::size_t i = 0; i != values.size(); ++i) {
    auto const texts = label_value_problems(values[i]);
    if (texts.empty()) continue;
    problems.push_back("values[" + std::to_string(i) + "][" + std::string{key} +
                       "]: Invalid value: " + go_quoted(values[i]) + ": " + joined(texts, "; "));
  }
  if (problems.empty()) return std::nullopt;
  if (problems.size() == 1) return problems.front();
  std::vector<std::string> distinct;
  for (auto& problem : problems) {
    if (std::find(distinct.begin(), distinct.end(), problem) == distinct.end()) distinct.push_back(std::move(problem));
  }
  return distinct.size() == 1 ? distinct.front() : "[" + joined(distinct, ", ") + "]";
}

inline auto within(std::int64_t value, std::int64_t least, std::int64_t most) noexcept -> bool {
  return value >= least && (most == 0 || value <= most);
}

AGONES_ALLOC_DECL auto holds(label_clause const& clause, string_map const& labels) noexcept -> bool {
  auto const value = labels.find(clause.key);
  auto const listed = [&] {
    return std::binary_search(clause.values.begin(), clause.values.end(), *value,
                              [](std::string_view a, std::string_view b) { return a < b; });
  };
  switch (clause.op) {
    case label_operator::in:
      return value && listed();
    case label_operator::not_in:
      return !value || !listed();
    case label_operator::exists:
      return value.has_value();
    case label_operator::does_not_exist:
      return !value;
  }
  return false;
}

inline auto holds(counter_selector const& wanted, counter_status const& counter) noexcept -> bool {
  return within(saturating_sub(counter.capacity, counter.count), wanted.min_available, wanted.max_available) &&
         within(counter.count, wanted.min_count, wanted.max_count);
}

inline auto holds(list_selector const& wanted, list_status const& list) noexcept -> bool {
  if (!within(saturating_sub(list.capacity, list.count()), wanted.min_available, wanted.max_available)) return false;
  if (wanted.contains_value.empty()) return true;
  return list.values &&
         std::find(list.values->begin(), list.values->end(), wanted.contains_value) != list.values->end();
}

inline auto holds(player_selector const& wanted, player_status const* players) noexcept -> bool {
  if (players == nullptr || wanted.max_available == 0) return true;
  auto const available = saturating_sub(players->capacity, players->count);
  return available >= wanted.min_available && available <= wanted.max_available;
}

/// A server that lacks one of the names does not match, whatever the numbers.
template <class Wanted, class Present>
auto hold_all(named_map<Wanted> const& wanted, named_map<Present> const& present) noexcept -> bool {
  for (auto const& [name, limits] : wanted) {
    auto const at = present.find(name);
    if (at == present.end() || !holds(limits, at->second)) return false;
  }
  return true;
}

}  // namespace detail

AGONES_ALLOC_DECL auto compile_labels(label_selector const& selector, std::vector<label_clause>& out)
    -> std::optional<std::string> {
  std::vector<label_clause> clauses;
  clauses.reserve(selector.match_labels.size() + selector.match_expressions.size());
  for (auto const [key, value] : selector.match_labels) {
    label_clause clause{key, label_operator::in, {value}};
    if (auto problem = detail::requirement_problem(key, clause.op, clause.values)) return problem;
    clauses.push_back(std::move(clause));
  }
  for (auto const& expression : selector.match_expressions) {
    auto const op = detail::label_operator_from(expression.op);
    if (!op) return go_quoted(expression.op) + " is not a valid label selector operator";
    if (auto problem = detail::requirement_problem(expression.key, *op, expression.values)) return problem;
    label_clause clause{expression.key, *op, expression.values};
    std::sort(clause.values.begin(), clause.values.end());
    clause.values.erase(std::unique(clause.values.begin(), clause.values.end()), clause.values.end());
    clauses.push_back(std::move(clause));
  }
  // One canonical form, so that requests that mean the same share one view.
  std::sort(clauses.begin(), clauses.end(), [](label_clause const& a, label_clause const& b) {
    return std::tie(a.key, a.op, a.values) < std::tie(b.key, b.op, b.values);
  });
  clauses.erase(std::unique(clauses.begin(), clauses.end()), clauses.end());
  out = std::move(clauses);
  return std::nullopt;
}

AGONES_ALLOC_DECL auto compile(game_server_selector const& selector, feature_gates gates) -> result<compiled_selector> {
  compiled_selector out;
  if (compile_labels(selector.labels, out.labels)) return make_error_code(errc::invalid_request);
  if (selector.game_server_state) out.state = game_server_state_from(*selector.game_server_state);
  if (gates.player_allocation_filter && selector.players && selector.players->max_available != 0) {
    out.players = selector.players;
  }
  if (gates.counts_and_lists) {
    if (selector.counters) out.counters = *selector.counters;
    if (selector.lists) out.lists = *selector.lists;
  }
  return out;
}

AGONES_ALLOC_DECL auto matches_labels(std::vector<label_clause> const& clauses, string_map const& labels) noexcept
    -> bool {
  for (auto const& clause : clauses) {
    if (!detail::holds(clause, labels)) return false;
  }
  return true;
}

AGONES_ALLOC_DECL auto is_in(server_share share, game_server const& server) noexcept -> bool {
  if (share.count <= 1) return true;
  return detail::stable_hash{}.add(server.meta.name.view()).value() % share.count == share.index;
}

namespace detail {

/// A counter or list that the server does not have is none that fits.
inline auto all_present(std::vector<most_present> const& clauses, game_server_status const& status) noexcept -> bool {
  return std::all_of(clauses.begin(), clauses.end(), [&](most_present const& clause) {
    if (clause.in_list) {
      auto const at = status.lists.find(clause.name);
      return at != status.lists.end() && at->second.count() <= clause.most;
    }
    auto const at = status.counters.find(clause.name);
    return at != status.counters.end() && at->second.count <= clause.most;
  });
}

}  // namespace detail

AGONES_ALLOC_DECL auto matches_status(compiled_selector const& selector, game_server const& server) noexcept -> bool {
  auto const& status = server.status;
  // `other` stands for many words, so two of them need not be the same word.
  if (selector.state && (*selector.state != status.state || status.state == game_server_state::other)) return false;
  return is_in(selector.share, server) && (!selector.players || detail::holds(*selector.players, status.players.get())) &&
         detail::hold_all(selector.counters, status.counters.get()) && detail::hold_all(selector.lists, status.lists.get()) &&
         detail::all_present(selector.at_most, status);
}

AGONES_ALLOC_DECL auto matches(compiled_selector const& selector, game_server const& server) noexcept -> bool {
  return matches_labels(selector.labels, server.meta.labels) && matches_status(selector, server);
}

AGONES_ALLOC_DECL auto hash_value(compiled_selector const& selector) noexcept -> std::size_t {
  detail::stable_hash hash;
  hash.add(static_cast<std::uint64_t>(selector.labels.size()));
  for (auto const& clause : selector.labels) {
    hash.add(clause.key.view()).add(static_cast<std::uint64_t>(clause.op));
    hash.add(static_cast<std::uint64_t>(clause.values.size()));
    for (auto const& value : clause.values) hash.add(value.view());
  }
  hash.add(selector.state.has_value())
      .add(static_cast<std::uint64_t>(selector.state.value_or(game_server_state::unset)));
  hash.add(selector.players.has_value());
  if (selector.players) hash.add(selector.players->min_available).add(selector.players->max_available);
  hash.add(static_cast<std::uint64_t>(selector.counters.size()));
  for (auto const& [name, wanted] : selector.counters) {
    hash.add(name.view()).add(wanted.min_count).add(wanted.max_count);
    hash.add(wanted.min_available).add(wanted.max_available);
  }
  hash.add(static_cast<std::uint64_t>(selector.lists.size()));
  for (auto const& [name, wanted] : selector.lists) {
    hash.add(name.view()).add(wanted.contains_value.view()).add(wanted.min_available).add(wanted.max_available);
  }
  for (auto const& clause : selector.at_most) hash.add(clause.name.view()).add(clause.most).add(clause.in_list);
  if (selector.share.count > 1) {
    hash.add(std::uint64_t{selector.share.index}).add(std::uint64_t{selector.share.count});
  }
  return hash.value();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
