// Label selectors in their text form.
#include <agones_alloc/select/label_query.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace agones_alloc;

namespace {

auto holds(std::string_view query, string_map const& labels) -> bool {
  auto const parsed = parse_label_query(query);
  REQUIRE_MESSAGE(parsed.index() == 0, std::string{query});
  return matches_labels(std::get<0>(parsed), labels);
}

auto problem(std::string_view query) -> std::string {
  auto const parsed = parse_label_query(query);
  return parsed.index() == 0 ? std::string{} : std::get<1>(parsed);
}

}  // namespace

TEST_CASE("every form of a label requirement in a query holds for the labels that it says") {
  string_map const labels{{"mode", "duel"}, {"region", "eu"}, {"empty", ""}, {"in", "x"}};
  for (auto const* query : {"", " ", "mode=duel", "mode==duel", "mode = duel", "mode!=race", "nothing!=race", "mode", "!beta", "! beta",
                            "region in (us,eu)", "region in ( us , eu )", "region notin (us)", "beta notin (x)", "empty=", "empty in ()",
                            "mode=duel,region in (eu,us),!beta", "mode,region", "in in (x)", "in", "in=x"}) {
    CHECK_MESSAGE(holds(query, labels), query);
  }
  for (auto const* query : {"mode=race", "mode!=duel", "beta", "!mode", "region in (us)", "region notin (eu,us)", "mode=", "region=eu,mode=race",
                            "mode in ()"}) {
    CHECK_MESSAGE(!holds(query, labels), query);
  }
}

TEST_CASE("a label query that cannot be read is refused with what is wrong") {
  CHECK(problem("mode>1").find("not supported") != std::string::npos);
  CHECK(problem("mode like x").find("in or notin") != std::string::npos);
  CHECK(problem("mode in x").find("parentheses") != std::string::npos);
  CHECK(problem("mode in (a").find("parentheses") != std::string::npos);
  CHECK(problem("mode in (a b)").find("parentheses") != std::string::npos);
  CHECK(problem("mode=a b").find("comma") != std::string::npos);
  CHECK(problem("mode=a,").find("last comma") != std::string::npos);
  CHECK(problem(",mode=a").find("key is expected") != std::string::npos);
  CHECK(problem("=a").find("key is expected") != std::string::npos);
  CHECK(problem("!").find("key is expected") != std::string::npos);
  CHECK(problem("mode)").find("in or notin") != std::string::npos);
  CHECK(problem("-mode=a").find("name part must consist of") != std::string::npos);
  CHECK(problem("mode=-a").find("valid label must be") != std::string::npos);
  CHECK(problem("mode=" + std::string(64, 'a')).find("63") != std::string::npos);
}
