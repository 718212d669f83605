#include "excuses.hpp"
#include "runner.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>

namespace conformance {

namespace {

auto shortened(json::value const& value, std::size_t limit) -> std::string {
  auto text = json::serialize(value);
  if (text.size() > limit) text = text.substr(0, limit) + "... (" + std::to_string(text.size()) + " bytes)";
  return text;
}

auto is_for(excuse const& rule, std::string_view family) -> bool {
  auto rest = rule.families;
  while (!rest.empty()) {
    auto const blank = rest.find(' ');
    if (rest.substr(0, blank) == family) return true;
    if (blank == std::string_view::npos) break;
    rest.remove_prefix(blank + 1);
  }
  return false;
}

/// The rules that together turn `expected` into `actual`; empty: none do.
auto excusing_rules(answer given) -> std::vector<std::size_t> {
  std::vector<std::size_t> used;
  auto const& table = excuses();
  for (std::size_t i = 0; i != table.size(); ++i) {
    if (!is_for(table[i], given.family)) continue;
    auto intended = table[i].intended(given);
    if (!intended || *intended == given.expected) continue;
    given.expected = std::move(*intended);
    used.push_back(i);
    if (given.expected == given.actual) return used;
  }
  return {};
}

auto child(std::string const& path, std::string_view key) -> std::string {
  return path.empty() ? std::string{key} : path + "." + std::string{key};
}

auto difference_at(std::string const& path, json::value const& expected, json::value const& actual) -> std::string {
  if (expected == actual) return {};
  if (expected.is_object() && actual.is_object()) {
    for (auto const& [key, value] : expected.get_object()) {
      auto const* other = actual.get_object().if_contains(key);
      if (other == nullptr) return child(path, key) + ": missing, should be " + shortened(value, 200);
      if (auto found = difference_at(child(path, key), value, *other); !found.empty()) return found;
    }
    for (auto const& [key, value] : actual.get_object()) {
      if (!expected.get_object().contains(key)) {
        return child(path, key) + ": should not be there, is " + shortened(value, 200);
      }
    }
  }
  if (expected.is_array() && actual.is_array()) {
    auto const& wanted = expected.get_array();
    auto const& got = actual.get_array();
    for (std::size_t i = 0; i != std::min(wanted.size(), got.size()); ++i) {
      auto const at = path + "[" + std::to_string(i) + "]";
      if (auto found = difference_at(at, wanted[i], got[i]); !found.empty()) return found;
    }
    return path + ": " + std::to_string(got.size()) + " elements instead of " + std::to_string(wanted.size());
  }
  return path + ": " + shortened(actual, 300) + " instead of " + shortened(expected, 300);
}

}  // namespace

void report::begin(json::object const& input) {
  input_ = &input;
  case_failed_ = false;
  case_rules_.clear();
}

void report::expect(std::string_view part, json::value expected, json::value actual) {
  if (expected == actual) return;
  auto const rules = excusing_rules({family_, part, *input_, *document_, expected, actual});
  if (!rules.empty()) {
    case_rules_.insert(case_rules_.end(), rules.begin(), rules.end());
    return;
  }
  fail(part, first_difference(expected, actual) + "\n  reference: " + shortened(expected, 1500) +
                 "\n  ours:      " + shortened(actual, 1500));
}

void report::fail(std::string_view part, std::string message) {
  case_failed_ = true;
  auto const* id = input_->if_contains("id");
  failures_.push_back(
      {std::string{family_} + " #" + (id == nullptr ? "?" : json::serialize(*id)) + " " + std::string{part},
       std::move(message) + "\n  case:      " + shortened(*input_, 3000)});
}

void report::end() {
  if (case_failed_) {
    ++failed_;
  } else if (case_rules_.empty()) {
    ++passed_;
  } else {
    ++excused_;
    std::sort(case_rules_.begin(), case_rules_.end());
    case_rules_.erase(std::unique(case_rules_.begin(), case_rules_.end()), case_rules_.end());
    for (auto const rule : case_rules_) ++uses_[rule];
  }
}

auto families() -> std::map<std::string_view, family>& {
  static std::map<std::string_view, family> all;
  return all;
}

auto first_difference(json::value const& expected, json::value const& actual) -> std::string {
  auto text = difference_at("", expected, actual);
  return !text.empty() && text.front() == ':' ? text.substr(2) : text;
}

}  // namespace conformance
