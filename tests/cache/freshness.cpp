#include "servers.hpp"

#include <agones_alloc/cache/freshness.hpp>

#include <doctest/doctest.h>

using namespace cache_tests;

TEST_CASE("resource versions compare as numbers of any length") {
  CHECK(is_newer_version("10", "9"));
  CHECK_FALSE(is_newer_version("9", "10"));
  CHECK_FALSE(is_newer_version("9", "9"));
  CHECK(is_newer_version("100000000000000000000000000002", "100000000000000000000000000001"));
  CHECK_FALSE(is_newer_version("007", "7"));
  CHECK(is_newer_version("008", "7"));
}

TEST_CASE("opaque resource versions are newer when they differ") {
  CHECK(is_newer_version("a", "b"));
  CHECK(is_newer_version("b", "a"));
  CHECK_FALSE(is_newer_version("a", "a"));
  CHECK(is_newer_version("", "1"));
  CHECK(is_newer_version("1", "-1"));
}

TEST_CASE("one character that is no digit makes a version opaque, wherever it stands") {
  for (std::size_t size = 1; size != 40; ++size) {
    std::string const known(size, '5');
    CHECK_FALSE(is_newer_version(known, known));
    CHECK(is_newer_version("6" + known.substr(1), known));
    CHECK_FALSE(is_newer_version("4" + known.substr(1), known));
    for (std::size_t at = 0; at != size; ++at) {
      // '/' and ':' stand next to the digits; the others have their halves.
      for (char const other : {'/', ':', '\x15', '\x3f', '\xb5', ' ', 'a', '\0'}) {
        auto opaque = "4" + known.substr(1);
        opaque[at] = other;
        CHECK(is_newer_version(opaque, known));
        CHECK(is_newer_version(known, opaque));
      }
    }
  }
}

TEST_CASE("another UID is another server, whatever its version") {
  auto const first = server_builder{"a"}.uid("one").version("9").made();
  auto const second = server_builder{"a"}.uid("two").version("3").made();
  CHECK(is_newer(*second, *first));
}
