#include <agones_alloc/yaml/document.hpp>
#include <agones_alloc/yaml/write.hpp>

#include <doctest/doctest.h>
#include <boost/json/parse.hpp>

#include <string>
#include <vector>

namespace yaml = agones_alloc::yaml;

TEST_CASE("values are written in block style, in their order") {
  auto const value = boost::json::parse(
      R"({"kind":"X","spec":{"m":1,"list":[1,"a",{"b":null}],"none":{},"empty":[]},"yes":true,"f":1.5,"big":18446744073709551615})");
  CHECK(yaml::write(value) ==
        "kind: X\n"
        "spec:\n"
        "  m: 1\n"
        "  list:\n"
        "    - 1\n"
        "    - a\n"
        "    - b: null\n"
        "  none: {}\n"
        "  empty: []\n"
        "\"yes\": true\n"
        "f: 1.5\n"
        "big: 18446744073709551615\n");
}

TEST_CASE("strings that look like other types are quoted") {
  for (std::string const text : {"yes",
                                 "no",
                                 "on",
                                 "off",
                                 "y",
                                 "n",
                                 "true",
                                 "False",
                                 "null",
                                 "~",
                                 "",
                                 "1",
                                 "-1",
                                 "+1",
                                 "0x1f",
                                 "0755",
                                 "0o7",
                                 "1e3",
                                 "1.5",
                                 ".5",
                                 ".inf",
                                 ".nan",
                                 "1_000",
                                 "2001-01-01",
                                 "1:30",
                                 "12:30:45",
                                 "<<",
                                 "=",
                                 " lead",
                                 "trail ",
                                 "a\nb",
                                 "a\tb",
                                 "- a",
                                 "a: b",
                                 "a #b",
                                 "#",
                                 "&a",
                                 "*a",
                                 "!t",
                                 "%d",
                                 "@x",
                                 "`x",
                                 "{a",
                                 "[a",
                                 "]",
                                 "}",
                                 ",",
                                 "'q'",
                                 "\"q\"",
                                 "a\"b",
                                 "|",
                                 ">",
                                 "?",
                                 "? x",
                                 ":",
                                 "-",
                                 "--- x",
                                 "...",
                                 "\x01\x1f",
                                 "\xc3\xa9",
                                 "\xf0\x9f\x8e\xae",
                                 "\xe2\x80\xa8",
                                 "\xc2\x85",
                                 "\xef\xbb\xbf",
                                 "\x7f",
                                 "64Mi",
                                 "a b",
                                 "http://x/y?z=1#q"}) {
    CAPTURE(text);
    boost::json::value const value =
        boost::json::object{{"k", text}, {"l", boost::json::array{text}}, {text + "key", 1}, {text, 2}};
    auto const written = yaml::write(value);
    CAPTURE(written);
    auto const read = yaml::parse(written, "w.yaml");
    REQUIRE(read.errors.empty());
    REQUIRE(read.values.size() == 1);
    CHECK(read.values[0].value == value);
  }
}

TEST_CASE("every kind of value comes back as it was") {
  for (std::string const text :
       {"null", "true", "-9223372036854775808", "9223372036854775807", "18446744073709551615", "0.1", "1e-300",
        "123456789.125", "[]", "{}", "[[],[[1]],{}]", "\"x\"", "[{\"a\":[{\"b\":[1,2]}]}]"}) {
    CAPTURE(text);
    boost::json::value const value = boost::json::object{{"v", boost::json::parse(text)}};
    auto const read = yaml::parse(yaml::write(value), "w.yaml");
    REQUIRE(read.values.size() == 1);
    CHECK(read.values[0].value == value);
  }
}

TEST_CASE("long keys survive") {
  boost::json::value const value = boost::json::object{{std::string(3000, 'k'), 1}};
  auto const read = yaml::parse(yaml::write(value), "w.yaml");
  REQUIRE(read.values.size() == 1);
  CHECK(read.values[0].value == value);
}
