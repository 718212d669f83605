#include <agones_alloc/embedded/durations.hpp>
#include <agones_alloc/embedded/fleet_settings.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace agones_alloc;
using namespace std::chrono_literals;

TEST_CASE("durations are read with their units") {
  std::vector<std::pair<std::string, std::chrono::nanoseconds>> const table{
      {"0", 0ns},       {"0s", 0ns},          {"2s", 2s},
      {"500ms", 500ms}, {"1m30s", 90s},       {"1h", 1h},
      {"1.5s", 1500ms}, {".5s", 500ms},       {"2.s", 2s},
      {"7us", 7us},     {"9ns", 9ns},         {"1h2m3s4ms5us6ns", 1h + 2min + 3s + 4ms + 5us + 6ns},
      {"1.5ns", 1ns},   {"100000h", 100000h}, {"0.000001h", 3600us},
  };
  for (auto const& each : table) {
    CAPTURE(each.first);
    auto const& [text, span] = each;
    REQUIRE(parse_duration(text).has_value());
    CHECK(*parse_duration(text) == span);
  }
}

TEST_CASE("what is no duration is refused") {
  for (std::string const text : {"", "s", "2", "-1s", "+1s", "1 s", "1s ", "1x", "1.2.3s", ".s", "1e3s", "100001h",
                                 "99999999999999999999s", "9999999999999h", "1.1234567s", "100000h1ns", "soon", "1S"}) {
    CAPTURE(text);
    CHECK(!parse_duration(text).has_value());
  }
}

TEST_CASE("ranges are one duration or two in order") {
  CHECK(parse_duration_range("2s") == std::optional{duration_range{2s, 2s}});
  CHECK(parse_duration_range("500ms-3s") == std::optional{duration_range{500ms, 3s}});
  CHECK(parse_duration_range("0-1m") == std::optional{duration_range{0s, 60s}});
  for (std::string const text : {"", "-", "1s-", "-1s", "3s-1s", "1s-2s-3s", "1s - 2s", "1-2s"}) {
    CAPTURE(text);
    CHECK(!parse_duration_range(text).has_value());
  }
}

TEST_CASE("durations are written so that they read back") {
  CHECK(to_string(std::chrono::nanoseconds{0}) == "0s");
  CHECK(to_string(std::chrono::nanoseconds{90s}) == "1m30s");
  CHECK(to_string(std::chrono::nanoseconds{1h + 1ns}) == "1h1ns");
  CHECK(to_string(duration_range{500ms, 3s}) == "500ms-3s");
  CHECK(to_string(duration_range{2s, 2s}) == "2s");
  for (std::int64_t const span : {1LL, 999LL, 1'000'000'007LL, 359'999'999'999'999LL}) {
    CHECK(parse_duration(to_string(std::chrono::nanoseconds{span})) == std::optional{std::chrono::nanoseconds{span}});
  }
}

TEST_CASE("annotations change a fleet's settings") {
  field_errors errors;
  fleet_settings const defaults;
  CHECK(settings_from({{"other", "x"}}, defaults, errors) == defaults);
  auto const set = settings_from({{keys::start_up_annotation, "2s"},
                                  {keys::session_length_annotation, "1m-2m"},
                                  {keys::shut_down_annotation, "100ms"},
                                  {keys::start_failure_annotation, "0.25"}},
                                 defaults, errors);
  CHECK(errors.empty());
  CHECK(set.start_up == duration_range{2s, 2s});
  CHECK(set.session_length == std::optional{duration_range{1min, 2min}});
  CHECK(set.shut_down == duration_range{100ms, 100ms});
  CHECK(set.start_failure == 0.25);
  CHECK(!settings_from({{keys::session_length_annotation, "never"}}, defaults, errors).session_length);
  CHECK(errors.empty());
}

TEST_CASE("annotations that cannot be read are all named and change nothing") {
  field_errors errors;
  auto const set = settings_from({{keys::start_up_annotation, "never"},
                                  {keys::session_length_annotation, "long"},
                                  {keys::shut_down_annotation, "-1s"},
                                  {keys::start_failure_annotation, "1.5"}},
                                 {}, errors);
  CHECK(set == fleet_settings{});
  REQUIRE(errors.size() == 4);
  CHECK(to_string(errors[0]) ==
        "metadata.annotations[agones-alloc.dev/start-up]: Invalid value: \"never\": must be a duration such as 2s, or "
        "a range such as 1s-3s");
  CHECK(errors[1].field == "metadata.annotations[agones-alloc.dev/shut-down]");
  CHECK(errors[2].field == "metadata.annotations[agones-alloc.dev/session-length]");
  CHECK(errors[3].field == "metadata.annotations[agones-alloc.dev/start-failure]");
  for (std::string const text : {"", "-0.1", "nan", "1.0001", "0.5x", "inf"}) {
    CAPTURE(text);
    errors.clear();
    settings_from({{keys::start_failure_annotation, text}}, {}, errors);
    CHECK(errors.size() == 1);
  }
}
