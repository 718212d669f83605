#include <agones_alloc/yaml/document.hpp>
#include <agones_alloc/yaml/scalar.hpp>

#include <doctest/doctest.h>
#include <boost/json/serialize.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yaml = agones_alloc::yaml;

namespace {

auto read_one(std::string const& text) -> std::string {
  auto const read = yaml::parse("v: " + text + "\n", "t.yaml");
  if (!read.errors.empty()) return to_string(read.errors.front());
  return boost::json::serialize(read.values.at(0).value.at("v"));
}

}  // namespace

TEST_CASE("plain scalars mean what Kubernetes' reader takes them for") {
  std::vector<std::pair<std::string, std::string>> const table{
      {"yes", "true"},
      {"Yes", "true"},
      {"YES", "true"},
      {"y", "true"},
      {"Y", "true"},
      {"on", "true"},
      {"On", "true"},
      {"ON", "true"},
      {"true", "true"},
      {"True", "true"},
      {"TRUE", "true"},
      {"no", "false"},
      {"n", "false"},
      {"N", "false"},
      {"No", "false"},
      {"off", "false"},
      {"OFF", "false"},
      {"false", "false"},
      {"False", "false"},
      {"yEs", "\"yEs\""},
      {"tRUE", "\"tRUE\""},
      {"oN", "\"oN\""},
      {"~", "null"},
      {"null", "null"},
      {"Null", "null"},
      {"NULL", "null"},
      {"", "null"},
      {"nULL", "\"nULL\""},
      {"0", "0"},
      {"-0", "0"},
      {"+7", "7"},
      {"-12", "-12"},
      {"007", "7"},
      {"0755", "493"},
      {"0o755", "493"},
      {"0O17", "15"},
      {"-0755", "-493"},
      {"0x1F", "31"},
      {"0X1f", "31"},
      {"-0x10", "-16"},
      {"0b101", "5"},
      {"-0b11", "-3"},
      {"1_000", "1000"},
      {"0888", "888"},
      {"09", "9"},
      {"0x", "\"0x\""},
      {"0b2", "\"0b2\""},
      {"0o8", "\"0o8\""},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"9223372036854775808", "9223372036854775808"},
      {"18446744073709551615", "18446744073709551615"},
      {"9007199254740993", "9007199254740993"},
      {"1e3", "1000"},
      {"1.0", "1"},
      {"1.", "1"},
      {"2.5", "2.5E0"},
      {".5", "5E-1"},
      {"0.5", "5E-1"},
      {"0.0", "0"},
      {"00.25", "2.5E-1"},
      {"0e1", "0"},
      {"-0.5", "-5E-1"},
      {"0", "0"},
      {"0_7", "7"},
      {"-.5", "-5E-1"},
      {"1e-1", "1E-1"},
      {"1.5e+1", "15"},
      {"1_0.5", "1.05E1"},
      {"1e999", "\"1e999\""},
      {"1e", "\"1e\""},
      {"1.2.3", "\"1.2.3\""},
      {"+", "\"+\""},
      {"--1", "\"--1\""},
      {"+-1", "\"+-1\""},
      {".", "\".\""},
      {"..", "\"..\""},
      {"_1", "\"_1\""},
      {"1a", "\"1a\""},
      {"2001-01-01", "\"2001-01-01\""},
      {"2001-12-14T21:59:43Z", "\"2001-12-14T21:59:43Z\""},
      {"1:30", "\"1:30\""},
      {"64Mi", "\"64Mi\""},
      {"20m", "\"20m\""},
      {"25%", "\"25%\""},
      {"infinity", "\"infinity\""},
      {"nan", "\"nan\""},
  };
  for (auto const& each : table) {
    CAPTURE(each.first);
    auto const& [text, expected] = each;
    CHECK(read_one(text) == expected);
  }
}

TEST_CASE("quoted scalars and block scalars are strings") {
  CHECK(read_one("\"yes\"") == "\"yes\"");
  CHECK(read_one("'1'") == "\"1\"");
  CHECK(read_one("\"\"") == "\"\"");
  CHECK(read_one("'~'") == "\"~\"");
  CHECK(read_one("|\n  12\n") == "\"12\\n\"");
  CHECK(read_one(">-\n  true\n") == "\"true\"");
  CHECK(read_one("\"a\\tb\\u00e9\"") == "\"a\\tb\xc3\xa9\"");
}

TEST_CASE("tags of YAML itself are honoured, others leave a string") {
  CHECK(read_one("!!str 5") == "\"5\"");
  CHECK(read_one("!!str yes") == "\"yes\"");
  CHECK(read_one("!!int \"5\"") == "5");
  CHECK(read_one("!!float 5") == "5");
  CHECK(read_one("!!bool \"off\"") == "false");
  CHECK(read_one("!!null \"\"") == "null");
  CHECK(read_one("!!timestamp 2001-01-01") == "\"2001-01-01\"");
  CHECK(read_one("!mine 5") == "\"5\"");
  CHECK(read_one("! 5") == "\"5\"");
  CHECK(read_one("!!int five") == "t.yaml:1: v: \"five\" is not of its tag !!int");
  CHECK(read_one("!!bool 1") == "t.yaml:1: v: \"1\" is not of its tag !!bool");
  CHECK(read_one("!!binary aGk=") == "t.yaml:1: v: the tag !!binary is not read");
}

TEST_CASE("numbers that JSON cannot hold are refused by name") {
  for (std::string const text : {".inf", "-.inf", "+.INF", ".nan", ".NaN"}) {
    CAPTURE(text);
    CHECK(read_one(text) == "t.yaml:1: v: " + text + " has no form in JSON");
  }
}

TEST_CASE("a number of absurd length is a string") {
  CHECK(yaml::resolve_plain(std::string(600, '9')).what == yaml::scalar::kind::string);
  CHECK(yaml::resolve_plain(std::string(400, '9')).what == yaml::scalar::kind::string);
  CHECK(yaml::resolve_plain(std::string(300, '9')).what == yaml::scalar::kind::real);
}
