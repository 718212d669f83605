#include <agones_alloc/select/match.hpp>
#include <agones_alloc/select/selector_text.hpp>

#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

using namespace agones_alloc;

namespace {

/// Requirements as `key Op value,value;`, or `! problem`.
auto read(std::string_view text) -> std::string {
  auto const read = parse_label_selector(text);
  if (auto const* problem = std::get_if<std::string>(&read)) return "! " + *problem;
  std::string out;
  for (auto const& one : std::get<label_selector>(read).match_expressions) {
    out += one.key.str() + " " + one.op.str();
    for (auto const& value : one.values) out += " '" + value.str() + "'";
    out += ";";
  }
  return out;
}

auto holds(std::string_view text, string_map const& labels) -> bool {
  auto const read = parse_label_selector(text);
  REQUIRE_MESSAGE(read.index() == 0, std::string{text});
  std::vector<label_clause> clauses;
  auto const problem = compile_labels(std::get<label_selector>(read), clauses);
  REQUIRE_MESSAGE(!problem, std::string{text});
  return matches_labels(clauses, labels);
}

}  // namespace

TEST_CASE("label selectors of one line are read as kubectl reads them") {
  CHECK(read("").empty());
  CHECK(read("  ").empty());
  CHECK(read("a=b") == "a In 'b';");
  CHECK(read("a==b") == "a In 'b';");
  CHECK(read("a=") == "a In '';");
  CHECK(read("a!=b") == "a NotIn 'b';");
  CHECK(read("a") == "a Exists;");
  CHECK(read("!a") == "a DoesNotExist;");
  CHECK(read("a in (x, y)") == "a In 'x' 'y';");
  CHECK(read("a notin (x)") == "a NotIn 'x';");
  CHECK(read(" agones.dev/fleet = simple , !b,c in(d) ") == "agones.dev/fleet In 'simple';b DoesNotExist;c In 'd';");
}

TEST_CASE("what is no selector is told with its place") {
  CHECK(read("=b") == "! a key is wanted at character 1");
  CHECK(read("a=b,") == "! a requirement is wanted after the comma at character 5");
  CHECK(read("a b") == "! one of =, ==, !=, in, notin is wanted at character 4");
  CHECK(read("a in x") == "! ( is wanted at character 6");
  CHECK(read("a in (x") == "! ) is wanted at character 8");
  CHECK(read("a=b c") == "! a comma is wanted at character 5");
  CHECK(read("a!b") == "! != is wanted at character 3");
  CHECK(read("a>1") == "! < and > are not supported at character 2");
  CHECK(read("a in (b c)") == "! ) is wanted at character 9");
  CHECK(read("!") == "! a key is wanted at character 2");
  CHECK(read("a)") == "! one of =, ==, !=, in, notin is wanted at character 2");
  CHECK(read("(") == "! a key is wanted at character 1");
}

TEST_CASE("every form of a requirement holds for the labels that it says") {
  string_map const labels{{"mode", "duel"}, {"region", "eu"}, {"empty", ""}, {"in", "x"}};
  for (auto const* text : {"", " ", "mode=duel", "mode==duel", "mode = duel", "mode!=race", "nothing!=race", "mode", "!beta", "! beta",
                           "region in (us,eu)", "region\nin ( us , eu )", "region notin (us)", "beta notin (x)", "empty=", "empty in ()",
                           "mode=duel,region in (eu,us),!beta", "mode,region", "in in (x)", "in", "in=x"}) {
    CHECK_MESSAGE(holds(text, labels), text);
  }
  for (auto const* text : {"mode=race", "mode!=duel", "beta", "!mode", "region in (us)", "region notin (eu,us)", "mode=", "region=eu,mode=race",
                           "mode in ()"}) {
    CHECK_MESSAGE(!holds(text, labels), text);
  }
}
