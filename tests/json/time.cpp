#include <agones_alloc/json/time.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;
using namespace std::chrono;

TEST_CASE("a time is read in UTC, whatever its offset, and loses its fraction") {
  timestamp const noon = sys_days{2026y / November / 29} + 12h + 43min + 8s;
  CHECK(parse_time("2026-11-29T12:43:08Z") == noon);
  CHECK(parse_time("2026-11-29T12:43:08.999999999Z") == noon);
  CHECK(parse_time("2026-11-29T14:13:08+01:30") == noon);
  CHECK(parse_time("2026-11-28T23:43:08.5-13:00") == noon);
  CHECK(format_time(noon) == "2026-11-29T12:43:08Z");
}

TEST_CASE("Go's zero time is unset and prints nothing") {
  CHECK(parse_time("0001-01-01T00:00:00Z") == unset_time);
  CHECK(format_time(unset_time).empty());
}

TEST_CASE("times before 1970 and leap days work") {
  CHECK(format_time(*parse_time("1969-12-31T23:59:59Z")) == "1969-12-31T23:59:59Z");
  CHECK(format_time(*parse_time("2024-02-29T00:00:00Z")) == "2024-02-29T00:00:00Z");
  CHECK(format_time(*parse_time("0000-01-01T00:00:00Z")) == "0000-01-01T00:00:00Z");
  CHECK(format_time(*parse_time("9999-12-31T23:59:59Z")) == "9999-12-31T23:59:59Z");
}

TEST_CASE("what is no RFC 3339 time is refused") {
  for (std::string_view const text :
       {"", "2026", "2026-11-29", "2026-11-29 12:43:08Z", "2026-11-29t12:43:08Z", "2026-11-29T12:43:08", "2026-11-29T12:43:08z",
        "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+1:00",
        "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+01:60", "2026-01-01T00:00:00Zx", " 2026-01-01T00:00:00Z",
        "+026-01-01T00:00:00Z", "9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01", "1767225600"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_time(text).has_value());
  }
}
