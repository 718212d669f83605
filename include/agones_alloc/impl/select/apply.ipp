#pragma once

#include <agones_alloc/detail/saturating.hpp>
#include <agones_alloc/select/apply.hpp>
#include <agones_alloc/select/detail/time_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::int64_t max_list_capacity = 1000;

/// `[a b]`, as the reference shows values.
inline auto shown(std::vector<shared_string> const& values) -> std::string {
  std::string out = "[";
  for (std::size_t i = 0; i != values.size(); ++i) out.append(i == 0 ? "" : " ").append(values[i].view());
  return out + "]";
}

inline auto not_found_in(std::string_view what, game_server const& server) -> std::string {
  return std::string{what} + " not found in GameServer " + server.meta.name.str();
}

/// Capacity first, then the count (spec 7.1).
class counter_applier {
 public:
  counter_applier(game_server& server, shared_copy<std::vector<std::string>>& errors) : server_{server}, errors_{errors} {}

  void apply(shared_string const& name, counter_action const& wanted) {
    auto const at = server_.status.counters.find(name);
    auto* counter = at == server_.status.counters.end() ? nullptr : &at->second;
    if (wanted.capacity) set_capacity(name, *wanted.capacity, counter);
    if (wanted.action && wanted.amount) change_count(name, *wanted.action, *wanted.amount, counter);
  }

 private:
  void set_capacity(shared_string const& name, std::int64_t capacity, counter_status* counter) {
    auto const what =
        "unable to UpdateCounterCapacity: Name " + name.str() + ", Capacity " + std::to_string(capacity) + ". ";
    if (capacity < 0) return errors_.push_back(what + "Capacity must be greater than or equal to 0");
    if (counter == nullptr) return errors_.push_back(what + not_found_in("Counter", server_));
    counter->capacity = capacity;
    counter->count = std::min(counter->count, capacity);
  }

  void change_count(shared_string const& name, shared_string const& action, std::int64_t amount,
                    counter_status* counter) {
    auto const what = "unable to UpdateCount with Name " + name.str() + ", Action " + action.str() + ", Amount " +
                      std::to_string(amount) + ". ";
    auto const up = action == "Increment";
    if (!up && action != "Decrement") {
      return errors_.push_back(what + "Allocation action must be one of Increment or Decrement");
    }
    if (amount < 0) return errors_.push_back(what + "Amount must be greater than 0");
    if (counter == nullptr) return errors_.push_back(what + not_found_in("Counter", server_));
    auto const count = up ? saturating_add(counter->count, amount) : saturating_sub(counter->count, amount);
    counter->count = std::max<std::int64_t>(std::min(count, counter->capacity), 0);
  }

  game_server& server_;
  shared_copy<std::vector<std::string>>& errors_;
};

/// Capacity, then add, then delete (spec 7.2).
class list_applier {
 public:
  list_applier(game_server& server, shared_copy<std::vector<std::string>>& errors) : server_{server}, errors_{errors} {}

  void apply(shared_string const& name, list_action const& wanted) {
    auto const at = server_.status.lists.find(name);
    auto* list = at == server_.status.lists.end() ? nullptr : &at->second;
    if (wanted.capacity) set_capacity(name, *wanted.capacity, list);
    if (!wanted.add_values.empty()) append(name, wanted, list);
    if (!wanted.delete_values.empty()) remove(name, wanted.delete_values, list);
  }

 private:
  using text_set = std::unordered_set<std::string_view>;

  static auto set_of(std::vector<shared_string> const& values) -> text_set { return {values.begin(), values.end()}; }

  void set_capacity(shared_string const& name, std::int64_t capacity, list_status* list) {
    auto const what =
        "unable to UpdateListCapacity: Name " + name.str() + ", Capacity " + std::to_string(capacity) + ". ";
    if (capacity < 0 || capacity > max_list_capacity) {
      return errors_.push_back(what + "Capacity must be between 0 and 1000, inclusive");
    }
    if (list == nullptr) return errors_.push_back(what + not_found_in("List", server_));
    list->capacity = capacity;
    if (list->count() > capacity) list->values->resize(static_cast<std::size_t>(capacity));
  }

  void append(shared_string const& name, list_action const& wanted, list_status* list) {
    if (list == nullptr) {
      return errors_.push_back("unable to AppendListValues: Name " + name.str() + ", Values " +
                               shown(wanted.add_values) + ". " + not_found_in("List", server_));
    }
    auto const capacity = static_cast<std::size_t>(std::max<std::int64_t>(list->capacity, 0));
    std::vector<shared_string> kept;
    std::vector<shared_string> lost;
    text_set seen;
    auto const doomed = set_of(wanted.delete_values);
    auto const keep = [&](std::vector<shared_string> const& values, bool added) {
      for (auto const& value : values) {
        if (!seen.insert(value).second) continue;
        if (kept.size() < capacity) {
          kept.push_back(value);
        } else if (added && !doomed.contains(value)) {
          lost.push_back(value);
        } else if (!added) {
          seen.erase(value);  // cut from the list: one that is added again is lost again
        }
      }
    };
    auto const before = list->values ? std::move(*list->values) : std::vector<shared_string>{};
    keep(before, false);
    keep(wanted.add_values, true);
    list->values = std::move(kept);
    if (lost.empty()) return;
    // The reference drops these without a word (Q16).
    errors_.push_back("unable to AppendListValues: Name " + name.str() + ", Values " + shown(lost) +
                      ". List is full, capacity " + std::to_string(list->capacity));
  }

  void remove(shared_string const& name, std::vector<shared_string> const& values, list_status* list) {
    if (list == nullptr) {
      return errors_.push_back("unable to DeleteListValues: Name " + name.str() + ", Values " + shown(values) + ". " +
                               not_found_in("List", server_));
    }
    if (!list->values) list->values.emplace();
    auto const doomed = set_of(values);
    std::erase_if(*list->values, [&doomed](shared_string const& value) { return doomed.contains(value); });
  }

  game_server& server_;
  shared_copy<std::vector<std::string>>& errors_;
};

}  // namespace detail

AGONES_ALLOC_DECL auto apply_allocation(game_server& server, allocation_spec const& spec, feature_gates gates,
                                        std::chrono::sys_time<std::chrono::nanoseconds> now) -> action_report {
  action_report report;
  server.meta.labels.merge(spec.metadata.labels);
  server.meta.annotations.merge(spec.metadata.annotations);
  server.meta.annotations.set(keys::last_allocated_annotation, detail::time_text{now});
  server.status.state = game_server_state::allocated;
  if (!gates.counts_and_lists) return report;
  if (spec.counters) {
    detail::counter_applier counters{server, report.counter_errors};
    for (auto const& [name, wanted] : *spec.counters) counters.apply(name, wanted);
  }
  if (spec.lists) {
    detail::list_applier lists{server, report.list_errors};
    for (auto const& [name, wanted] : *spec.lists) lists.apply(name, wanted);
  }
  return report;
}

AGONES_ALLOC_DECL auto rfc3339_nano(std::chrono::sys_time<std::chrono::nanoseconds> when) -> std::string {
  return std::string{detail::time_text{when}};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
