// Intended answers of convert and sequence.
#include "intended.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace conformance {
namespace {

auto member(json::object const& of, std::string_view key) -> json::value const* { return of.if_contains(key); }

/// Of one label selector: the labels it amounts to, or the index of the first expression that is more than a label.
struct labels_or_index {
  json::object labels;
  std::size_t refused{0};
  bool expressible{true};
};

auto as_labels(json::object const& selector) -> labels_or_index {
  labels_or_index out;
  if (auto const* labels = member(selector, "matchLabels"); labels != nullptr && labels->is_object()) {
    out.labels = labels->get_object();
  }
  auto const* expressions = member(selector, "matchExpressions");
  if (expressions == nullptr || !expressions->is_array()) return out;
  for (auto const& expression : expressions->get_array()) {
    auto const* values = member(expression.as_object(), "values");
    auto const& key = expression.at("key").as_string();
    auto const single = expression.at("operator") == "In" && values != nullptr && values->as_array().size() == 1;
    if (!single || (out.labels.contains(key) && out.labels.at(key) != values->get_array().front())) {
      out.expressible = false;
      return out;
    }
    out.labels[key] = values->get_array().front();
    ++out.refused;
  }
  return out;
}

/// The selectors after conversion of the deprecated fields (spec 2.2).
auto selectors_of(json::object const& spec) -> std::vector<json::object> {
  std::vector<json::object> out;
  auto const append = [&](std::string_view key) {
    auto const* list = member(spec, key);
    if (list == nullptr || !list->is_array()) return;
    for (auto const& one : list->get_array()) out.push_back(one.as_object());
  };
  append("selectors");
  if (!out.empty()) return out;
  append("preferred");
  auto const* required = member(spec, "required");
  out.push_back(required != nullptr && required->is_object() ? required->get_object() : json::object{});
  return out;
}

auto refusal(std::string const& selector, std::size_t expression) -> json::value {
  return {{"unsupported", true}, {"field", selector + ".matchExpressions[" + std::to_string(expression) + "]"}};
}

}  // namespace

auto keeping_match_expressions(answer const& given) -> intended_answer {
  if (given.part != "request" || !given.input.contains("losesMatchExpressions")) return std::nullopt;
  auto const& spec = given.input.at("gsa").at("spec").as_object();
  auto out = given.expected;
  auto const selectors = selectors_of(spec);
  for (std::size_t i = 0; i != selectors.size(); ++i) {
    auto const labels = as_labels(selectors[i]);
    if (!labels.expressible) return refusal("spec.selectors[" + std::to_string(i) + "]", labels.refused);
    out.at("gameServerSelectors").at(i).at("matchLabels") = labels.labels;
    // For old servers the last selector is the required one, the others are preferred.
    auto& old =
        i + 1 == selectors.size() ? out.at("requiredGameServerSelector") : out.at("preferredGameServerSelectors").at(i);
    old.at("matchLabels") = labels.labels;
  }
  auto const* setting = member(spec, "multiClusterSetting");
  auto const* policies = setting == nullptr ? nullptr : member(setting->as_object(), "policySelector");
  if (policies != nullptr && policies->is_object()) {
    auto const labels = as_labels(policies->get_object());
    if (!labels.expressible) return refusal("spec.multiClusterSetting.policySelector", labels.refused);
    auto& forwarded = out.at("multiClusterSetting").at("policySelector");
    if (forwarded.is_object()) forwarded.at("matchLabels") = labels.labels;
  }
  return out;
}

auto with_empty_for_absent_values(answer const& given) -> intended_answer {
  if (given.part != "backToGSA") return std::nullopt;
  auto out = given.expected;
  auto* lists = out.at("status").as_object().if_contains("lists");
  if (lists == nullptr) return std::nullopt;
  for (auto& [name, list] : lists->as_object()) {
    auto& values = list.at("values");
    auto const& printed = given.input.at("response").at("lists").at(name).at("values");
    if (values.is_null() && printed.as_array().empty()) values = json::array{};
  }
  return out;
}

auto with_servers_allocated_again(answer const& given) -> intended_answer {
  if (given.part != "answers") return std::nullopt;
  // Which server such a request gets depends on which write ends first, so the answer given is taken here: the
  // family replays all answers and fails where a server did not match in its turn or is not what the rules make
  // of it. Only requests that the reference sent away may differ.
  auto const& theirs = given.expected.as_array();
  auto const* ours = given.actual.if_array();
  if (ours == nullptr || ours->size() != theirs.size()) return std::nullopt;
  json::array out = theirs;
  for (std::size_t i = 0; i != theirs.size(); ++i) {
    auto const sent_away = theirs[i].as_object().contains("error");
    if (sent_away && (*ours)[i].as_object().contains("gameServer")) out[i] = (*ours)[i];
  }
  return out;
}

}  // namespace conformance
