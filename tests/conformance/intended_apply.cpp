// Intended answers of apply.
#include "intended.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace conformance {
namespace {

__extension__ typedef __int128 wide;

constexpr wide int64_max = INT64_MAX;

auto object_in(json::object const& object, std::string_view key) -> json::object const* {
  auto const* value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_object();
}

auto number_in(json::object const& object, std::string_view key) -> std::int64_t const* {
  auto const* value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_int64();
}

auto strings_in(json::object const& object, std::string_view key) -> std::vector<std::string> {
  std::vector<std::string> out;
  auto const* values = object.if_contains(key);
  if (values == nullptr || !values->is_array()) return out;
  for (auto const& value : values->get_array()) out.emplace_back(value.as_string());
  return out;
}

/// The capacity an action works with: its own where that is accepted, else the server's.
auto capacity_after(json::object const& action, json::object const& present, std::int64_t most) -> std::int64_t {
  auto const* wanted = number_in(action, "capacity");
  return wanted != nullptr && *wanted >= 0 && *wanted <= most ? *wanted : present.at("capacity").as_int64();
}

/// Calls `visit(name, action, present)` for each action on a counter or list the server has.
template <class Visit>
void each_action(json::object const& input, std::string_view kind, Visit visit) {
  auto const* actions = object_in(input.at("gsa").at("spec").as_object(), kind);
  auto const* present = object_in(input.at("gameServer").at("status").as_object(), kind);
  if (actions == nullptr || present == nullptr || input.at("gates") == "noCounts") return;
  for (auto const& [name, action] : *actions) {
    auto const* one = object_in(*present, name);
    if (one != nullptr && action.is_object()) visit(name, action.get_object(), *one);
  }
}

auto words(std::vector<std::string> const& values) -> std::string {
  std::string out = "[";
  for (std::size_t i = 0; i != values.size(); ++i) out += (i == 0 ? "" : " ") + values[i];
  return out + "]";
}

}  // namespace

auto with_saturated_counts(answer const& given) -> intended_answer {
  if (given.part != "status") return std::nullopt;
  auto out = given.expected;
  bool overflowed = false;
  each_action(given.input, "counters",
              [&](std::string_view name, json::object const& action, json::object const& present) {
                auto const* amount = number_in(action, "amount");
                auto const* what = action.if_contains("action");
                if (amount == nullptr || what == nullptr || *what != "Increment") return;
                auto const capacity = capacity_after(action, present, INT64_MAX);
                // Only where the plain sum does not fit: then the capacity is what the sum is clamped to.
                if (wide{present.at("count").as_int64()} + *amount <= int64_max) return;
                out.at("counters").at(name).at("count") = capacity;
                overflowed = true;
              });
  if (!overflowed) return std::nullopt;
  return out;
}

auto with_truncation_reported(answer const& given) -> intended_answer {
  if (given.part != "listErrors") return std::nullopt;
  std::vector<std::string> lines;
  for (auto const& line : given.expected.as_array()) lines.emplace_back(line.as_string());
  auto const before = lines.size();
  each_action(given.input, "lists",
              [&](std::string_view name, json::object const& action, json::object const& present) {
                auto const capacity = capacity_after(action, present, 1000);
                std::vector<std::string> all;
                auto const append = [&all](std::vector<std::string> const& values) {
                  for (auto const& value : values) {
                    if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
                  }
                };
                auto existing = strings_in(present, "values");
                if (std::cmp_greater(existing.size(), capacity)) existing.resize(static_cast<std::size_t>(capacity));
                append(existing);
                auto const added = strings_in(action, "addValues");
                append(added);
                auto const kept = std::min(all.size(), static_cast<std::size_t>(capacity));
                auto const doomed = strings_in(action, "deleteValues");
                std::vector<std::string> lost;
                for (auto at = kept; at < all.size(); ++at) {
                  auto const wanted = std::find(added.begin(), added.end(), all[at]) != added.end();
                  if (wanted && std::find(doomed.begin(), doomed.end(), all[at]) == doomed.end())
                    lost.push_back(all[at]);
                }
                if (lost.empty()) return;
                lines.push_back("unable to AppendListValues: Name " + std::string{name} + ", Values " + words(lost) +
                                ". List is full, capacity " + std::to_string(capacity));
              });
  if (lines.size() == before) return std::nullopt;
  std::sort(lines.begin(), lines.end());
  return json::array(lines.begin(), lines.end());
}

}  // namespace conformance
