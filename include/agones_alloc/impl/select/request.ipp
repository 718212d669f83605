#pragma once

#include <agones_alloc/detail/hash.hpp>
#include <agones_alloc/detail/saturating.hpp>
#include <agones_alloc/select/defaults.hpp>
#include <agones_alloc/select/request.hpp>
#include <agones_alloc/select/validate.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::uint32_t max_top_n = 1024;
inline constexpr std::uint32_t max_shares = 1024;

inline auto choice_problems(choice_options const& choice) -> field_errors {
  field_errors problems;
  if (choice.order == order_kind::custom && choice.custom == nullptr) {
    problems.push_back({field_error_type::required, "options.custom", "", "order is custom but no ranker is given"});
  }
  if (choice.top_n == 0 || choice.top_n > max_top_n) {
    problems.push_back({field_error_type::invalid, "options.top_n", std::to_string(choice.top_n),
                        "must be between 1 and " + std::to_string(max_top_n) + ", inclusive"});
  }
  if (choice.target && choice.target->name.empty()) {
    problems.push_back({field_error_type::required, "options.target.name", "", "a target needs a name"});
  }
  if (choice.prefer.count == 0 || choice.prefer.count > max_shares) {
    problems.push_back({field_error_type::invalid, "options.prefer.count", std::to_string(choice.prefer.count),
                        "must be between 1 and " + std::to_string(max_shares) + ", inclusive"});
  } else if (choice.prefer.index >= choice.prefer.count) {
    problems.push_back({field_error_type::invalid, "options.prefer.index", std::to_string(choice.prefer.index),
                        "must be less than options.prefer.count"});
  }
  return problems;
}

/// The request's own ranking, or the one the options ask for with the request's priorities within it.
inline auto chosen_ranking(allocation_spec const& spec, feature_gates gates, choice_options const& choice) -> ranking {
  auto out = ranking_of(spec, gates);
  if (!choice.order || *choice.order == out.kind) return out;
  // Packed keeps every wish; the others then drop what they do not look at, so that equal orders share views.
  auto wishes = spec;
  wishes.scheduling = "Packed";
  out = ranking_of(wishes, gates);
  out.kind = *choice.order;
  switch (out.kind) {
    case order_kind::packed:
      break;
    case order_kind::by_priorities:
    case order_kind::newest_first:
      out.players = false;
      break;
    case order_kind::custom:
      out.custom = choice.custom;
      out.players = false;
      out.priorities.clear();
      break;
    case order_kind::random:
      out.players = false;
      out.priorities.clear();
      break;
  }
  return out;
}

/// The clauses without which an action of the request would not fit.
inline void add_exact_clauses(compiled_selector& selector, allocation_spec const& spec) {
  if (spec.counters) {
    for (auto const& [name, action] : *spec.counters) {
      bool const changes = action.action && action.amount;
      bool const down = changes && *action.action == "Decrement";
      // The capacity is set first, and cuts off what is over it; then the amount has to fit.
      if (action.capacity) selector.at_most.push_back({name, saturating_sub(*action.capacity, changes && !down ? *action.amount : 0), false});
      if (!changes || (action.capacity && !down)) continue;
      auto& clause = selector.counters[name];
      auto& least = down ? clause.min_count : clause.min_available;
      least = std::max(least, *action.amount);
    }
  }
  if (spec.lists) {
    for (auto const& [name, action] : *spec.lists) {
      auto const added = static_cast<std::int64_t>(action.add_values.size());
      if (action.capacity) selector.at_most.push_back({name, *action.capacity - added, true});
      if (added == 0 || action.capacity) continue;
      auto& clause = selector.lists[name];
      clause.min_available = std::max(clause.min_available, added);
    }
  }
}

inline auto hash_of(view_shape const& shape) noexcept -> std::size_t {
  stable_hash hash;
  hash.add(shape.namespace_.view());
  hash.add(static_cast<std::uint64_t>(hash_value(shape.selector)));
  hash.add(static_cast<std::uint64_t>(hash_value(shape.order)));
  return hash.value();
}

/// Of a shape that is complete.
inline void seal(view_shape& shape) noexcept {
  static std::atomic<std::uint64_t> last{0};
  shape.hash = hash_of(shape);
  shape.serial = last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace detail

AGONES_ALLOC_DECL auto allocation_request::make(game_server_allocation gsa, feature_gates gates, choice_options choice)
    -> std::variant<request_ptr, field_errors> {
  apply_defaults(gsa, gates);
  auto problems = validate(gsa, gates);
  auto const of_choice = detail::choice_problems(choice);
  problems.insert(problems.end(), of_choice.begin(), of_choice.end());
  if (!problems.empty()) return problems;
  convert_deprecated(gsa.spec);
  // What a client put into the status is neither trusted nor echoed (Q6).
  gsa.status = {};
  return std::make_shared<allocation_request const>(secret{}, std::move(gsa), gates, std::move(choice));
}

AGONES_ALLOC_DECL allocation_request::allocation_request(secret, game_server_allocation gsa, feature_gates gates,
                                                         choice_options choice)
    : gsa_{std::move(gsa)}, top_n_{choice.top_n}, target_{std::move(choice.target)}, gates_{gates} {
  auto const order = detail::chosen_ranking(gsa_.spec, gates_, choice);
  shapes_per_selector_ = choice.prefer.count > 1 ? 2 : 1;
  shapes_.reserve(gsa_.spec.selectors.size() * shapes_per_selector_);
  auto const add = [this](view_shape shape) {
    detail::seal(shape);
    shapes_.push_back(std::move(shape));
  };
  for (auto const& selector : gsa_.spec.selectors) {
    // Validation compiled the same labels, so there is a value.
    view_shape shape{gsa_.meta.namespace_, compile(selector, gates_).value(), order, 0, 0};
    if (choice.exact && gates_.counts_and_lists) detail::add_exact_clauses(shape.selector, gsa_.spec);
    if (choice.prefer.count > 1) {
      auto preferred = shape;
      preferred.selector.share = choice.prefer;
      add(std::move(preferred));
    }
    add(std::move(shape));
  }
}

AGONES_ALLOC_DECL auto allocation_request::in_namespace(std::string_view name) const -> request_ptr {
  auto out = std::make_shared<allocation_request>(*this);
  out->gsa_.meta.namespace_ = name;
  for (auto& shape : out->shapes_) {
    shape.namespace_ = out->gsa_.meta.namespace_;
    detail::seal(shape);
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
