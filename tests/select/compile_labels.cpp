#include "make.hpp"

#include <agones_alloc/select/match.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;

namespace {

auto reason(label_selector const& selector) -> std::string {
  std::vector<label_clause> out;
  return compile_labels(selector, out).value_or("");
}

auto one(label_requirement requirement) -> label_selector {
  label_selector out;
  out.match_expressions.push_back(std::move(requirement));
  return out;
}

}  // namespace

TEST_CASE("an operator that is none of the four is named") {
  CHECK(reason(one({"a", "Gt", {"1"}})) == "\"Gt\" is not a valid label selector operator");
  CHECK(reason(one({"a", "", {}})) == "\"\" is not a valid label selector operator");
  CHECK(reason(one({"a", "in", {"x"}})) == "\"in\" is not a valid label selector operator");
}

TEST_CASE("In and NotIn need values") {
  auto const text = "values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be empty";
  CHECK(reason(one({"a", "In", {}})) == text);
  CHECK(reason(one({"a", "NotIn", {}})) == text);
}

TEST_CASE("Exists and DoesNotExist take no values") {
  CHECK(reason(one({"a", "Exists", {"x", "y"}})) ==
        "values: Invalid value: []string{\"x\", \"y\"}: values set must be empty for exists and does not exist");
  CHECK(reason(one({"a", "DoesNotExist", {"x"}})) ==
        "values: Invalid value: []string{\"x\"}: values set must be empty for exists and does not exist");
}

TEST_CASE("a bad key and a bad value are shown with what is wrong") {
  CHECK(reason(one({"-a", "Exists", {}})).starts_with("key: Invalid value: \"-a\": name part must consist of"));
  CHECK(
      reason(one({"a", "In", {"ok", "-b"}})).starts_with("values[1][a]: Invalid value: \"-b\": a valid label must be"));
  label_selector labels;
  labels.match_labels.set("a", "-b");
  CHECK(reason(labels).starts_with("values[0][a]: Invalid value: \"-b\": a valid label must be"));
}

TEST_CASE("several texts for one key are joined with semicolons") {
  auto const text = reason(one({"", "Exists", {}}));
  CHECK(text.starts_with("key: Invalid value: \"\": name part must be non-empty; name part must consist of"));
}

TEST_CASE("two faults of one requirement stand in brackets") {
  auto const text = reason(one({"-a", "In", {}}));
  CHECK(text.starts_with("[key: Invalid value: \"-a\": "));
  CHECK(text.ends_with(
      ", values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be empty]"));
}

TEST_CASE("only the first failing requirement is reported, matchLabels first") {
  auto selector = one({"-b", "Exists", {}});
  selector.match_labels.set("-a", "x");
  CHECK(reason(selector).starts_with("key: Invalid value: \"-a\""));
  label_selector two;
  two.match_expressions = {{"ok", "Exists", {}}, {"a", "Gt", {}}, {"-b", "Exists", {}}};
  CHECK(reason(two) == "\"Gt\" is not a valid label selector operator");
}

TEST_CASE("a failed compilation leaves the output alone") {
  std::vector<label_clause> out{{"kept", label_operator::exists, {}}};
  CHECK(compile_labels(one({"a", "Gt", {}}), out).has_value());
  REQUIRE(out.size() == 1);
  CHECK(out[0].key == "kept");
}

TEST_CASE("label selectors that mean the same compile to the same clauses") {
  label_selector first;
  first.match_labels.set("b", "1");
  first.match_expressions = {{"a", "NotIn", {"y", "x", "y"}}, {"c", "Exists", {}}};
  label_selector second;
  second.match_expressions = {{"c", "Exists", {}}, {"c", "Exists", {}}, {"b", "In", {"1"}}, {"a", "NotIn", {"x", "y"}}};
  std::vector<label_clause> a;
  std::vector<label_clause> b;
  REQUIRE_FALSE(compile_labels(first, a).has_value());
  REQUIRE_FALSE(compile_labels(second, b).has_value());
  CHECK(a == b);
  CHECK(a.size() == 3);
}

TEST_CASE("a selector whose labels cannot be compiled is an invalid request") {
  game_server_selector selector;
  selector.labels = one({"a", "Gt", {}});
  auto const compiled = compile(selector, {});
  REQUIRE(compiled.has_error());
  CHECK(compiled.error() == errc::invalid_request);
}
