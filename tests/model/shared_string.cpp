#include <agones_alloc/model/shared_string.hpp>

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

using agones_alloc::shared_string;

TEST_CASE("an empty shared_string owns nothing and equals empty text") {
  shared_string const none;
  shared_string const from_empty{std::string_view{}};
  CHECK(none.empty());
  CHECK(none == "");
  CHECK(none == from_empty);
  CHECK(none.same_buffer(from_empty));
  CHECK(none.view().empty());
}

TEST_CASE("copies of a shared_string share one buffer and outlive the original") {
  auto original = std::make_unique<shared_string>("a text that is longer than any small buffer");
  shared_string const copy = *original;
  CHECK(copy.same_buffer(*original));
  original.reset();
  CHECK(copy == "a text that is longer than any small buffer");
}

TEST_CASE("a moved-from shared_string is empty and self-assignment keeps the text") {
  shared_string source{"x"};
  shared_string target{std::move(source)};
  CHECK(source.empty());  // NOLINT(bugprone-use-after-move): the state is documented
  auto& alias = target;
  target = alias;
  CHECK(target == "x");
}

TEST_CASE("shared_string keeps NUL bytes and compares byte-wise") {
  std::string const with_nul{"a\0b", 3};
  CHECK(shared_string{with_nul}.size() == 3);
  CHECK(shared_string{with_nul} == with_nul);
  CHECK(shared_string{"B"} < shared_string{"a"});
  CHECK(shared_string{"a"} < shared_string{"aa"});
}

TEST_CASE("maps of shared_string are looked up by string_view") {
  std::map<shared_string, int, std::less<>> const sorted{{"a", 1}, {"b", 2}};
  CHECK(sorted.find(std::string_view{"b"})->second == 2);
  CHECK(sorted.find("b")->second == 2);
  CHECK(sorted.find(std::string{"a"})->second == 1);
  std::unordered_map<shared_string, int> const hashed{{"a", 1}};
  CHECK(hashed.at("a") == 1);
}

TEST_CASE("a shared_string compares with literals, strings and views on either side") {
  shared_string const b{"b"};
  std::string const text{"b"};
  char const* const pointer = "c";
  CHECK(b == text);
  CHECK(text == b);
  CHECK("b" == b);
  CHECK(b < "c");
  CHECK("a" < b);
  CHECK(b < pointer);
  CHECK(std::string_view{"a"} < b);
  CHECK(b >= text);
  CHECK(std::less<>{}(b, "c"));
}
