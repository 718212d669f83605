#include "reading.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

using namespace agones_alloc;

namespace {
auto fault_of(std::string_view text, json_parse_options const& options = {}) -> decode_error {
  auto const read = parse_json(text, options);
  REQUIRE_FALSE(read.has_value());
  return read.error();
}
auto nested(std::size_t depth) -> std::string { return std::string(depth, '[') + std::string(depth, ']'); }
}  // namespace

TEST_CASE("integers of the int64 and uint64 ranges are exact") {
  CHECK(parse_json("9007199254740993")->as_int64() == 9007199254740993);
  CHECK(parse_json("9223372036854775807")->as_int64() == std::numeric_limits<std::int64_t>::max());
  CHECK(parse_json("-9223372036854775808")->as_int64() == std::numeric_limits<std::int64_t>::min());
  CHECK(parse_json("18446744073709551615")->as_uint64() == std::numeric_limits<std::uint64_t>::max());
  CHECK(parse_json("18446744073709551616")->is_double());
  CHECK(parse_json("1.0")->is_double());
}

TEST_CASE("of duplicate keys the last wins, in small and in large objects") {
  CHECK(parse_json(R"({"a":1,"b":2,"a":3})")->at("a").as_int64() == 3);
  std::string large = "{";
  for (int i = 0; i < 100; ++i) large += "\"k" + std::to_string(i) + "\":0,";
  large += R"("k7":1,"k7":2})";
  auto const value = parse_json(large);
  CHECK(value->at("k7").as_int64() == 2);
  CHECK(value->as_object().size() == 100);
}

TEST_CASE("a syntax error says line and column") {
  auto const error = fault_of("{\n  \"spec\": {\n    \"a\": }\n}");
  CHECK(error.fault == decode_fault::syntax);
  CHECK(error.line == 3);
  CHECK(error.column == 10);
  CHECK(to_string(error).starts_with("line 3, column 10: invalid JSON"));
}

TEST_CASE("text that ends early is reported at its end") {
  for (std::string_view const text : {"", "{", "[1,", "\"abc", "{\"a\":", "tru"}) {
    CAPTURE(text);
    auto const error = fault_of(text);
    CHECK(error.fault == decode_fault::syntax);
    CHECK(error.message == "unexpected end of JSON");
    CHECK(error.offset == text.size());
  }
}

TEST_CASE("text after the document is an error, unless it is to be ignored") {
  CHECK(fault_of("{} {}").message == "text after the JSON document");
  CHECK(fault_of("{} {}").offset == 3);
  CHECK(parse_json(" {} \r\n\t").has_value());
  CHECK(parse_json("{\"a\":1} trailing", {.allow_trailing = true})->at("a").as_int64() == 1);
  CHECK(parse_json("{}{", {.allow_trailing = true}).has_value());
}

TEST_CASE("an empty body is an empty object only when asked for") {
  CHECK(parse_json(" \n", {.empty_is_object = true})->as_object().empty());
  CHECK(fault_of(" \n").fault == decode_fault::syntax);
}

TEST_CASE("longer text than allowed is refused unread") {
  auto const error = fault_of("{\"a\":\"0123456789\"}", {.max_bytes = 10});
  CHECK(error.fault == decode_fault::limit);
  CHECK(code_of(error) == make_error_code(errc::limit_exceeded));
  CHECK(parse_json("{\"a\":1234}", {.max_bytes = 10}).has_value());
}

TEST_CASE("depth is bounded: 64 by default") {
  CHECK(parse_json(nested(64)).has_value());
  CHECK(fault_of(nested(65)).fault == decode_fault::limit);
  CHECK(fault_of(nested(1'000'000)).message == "nested deeper than 64 levels");
  CHECK(parse_json(nested(3), {.max_depth = 3}).has_value());
  CHECK(fault_of(nested(4), {.max_depth = 3}).fault == decode_fault::limit);
}

TEST_CASE("what is not JSON is a syntax error") {
  using namespace std::string_view_literals;
  for (std::string_view const text :
       {"{'a':1}"sv, "{a:1}"sv, "[1,]"sv, "{\"a\":1,}"sv, "01"sv, "+1"sv, ".5"sv, "1."sv, "NaN"sv, "Infinity"sv,
        "// c\n1"sv, "\"\t\""sv, "\"\\x\""sv, "nul"sv, "\xef\xbb\xbf{}"sv, "{\"a\":\"\xff\"}"sv, "{\"a\":\"\xc0\x80\"}"sv,
        "\"\xed\xa0\x80\""sv, "\"\\ud800\""sv, "{\"a\":\0}"sv, "\"a\0b\""sv, "\0"sv}) {
    CAPTURE(text);
    CHECK(fault_of(text).fault == decode_fault::syntax);
  }
}

TEST_CASE("an escaped NUL and surrogate pairs are text") {
  using namespace std::string_view_literals;
  CHECK(std::string_view{parse_json("\"a\\u0000b\"")->as_string()} == "a\0b"sv);
  CHECK(std::string_view{parse_json("\"\\ud83d\\ude00\"")->as_string()} == "\xf0\x9f\x98\x80"sv);
}

TEST_CASE("a failed result throws its text when it is taken by force") {
  CHECK_THROWS_WITH_AS(parse_json("[").value(), "line 1, column 2: unexpected end of JSON", std::invalid_argument);
}
