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
  CHECK(read("(") == "! a key is wanted at character 1");
}
