#include <agones_alloc/flow/breaker.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

using namespace agones_alloc;
using namespace std::chrono_literals;
using admission = breaker::admission;

namespace {

breaker_options const options{2, {1000, 1s, 2.0, 0.0, 8s}};
constexpr breaker::time_point start{1h};

auto opened() -> breaker {
  breaker out;
  out.failed(out.ask(start), start, 0, options);
  out.failed(out.ask(start), start, 0, options);
  REQUIRE(out.state() == breaker_state::open);
  return out;
}

}  // namespace

TEST_CASE("a breaker lets calls through until so many have failed in a row") {
  breaker one;
  CHECK(one.ask(start) == admission::yes);
  one.failed(admission::yes, start, 0, options);
  CHECK(one.ask(start) == admission::yes);
  one.succeeded();
  one.failed(admission::yes, start, 0, options);
  CHECK(one.state() == breaker_state::closed);
  one.failed(admission::yes, start, 0, options);
  CHECK(one.state() == breaker_state::open);
  CHECK(one.ask(start) == admission::no);
  CHECK(one.open_until() == start + 1s);
}

TEST_CASE("after its time an open breaker lets one probe through, and nobody else") {
  auto one = opened();
  CHECK(one.ask(start + 999ms) == admission::no);
  CHECK(one.ask(start + 1s) == admission::probe);
  CHECK(one.state() == breaker_state::half_open);
  CHECK(one.ask(start + 1h) == admission::no);
  one.succeeded();
  CHECK(one.state() == breaker_state::closed);
  CHECK(one.failures() == 0);
}

TEST_CASE("a probe that fails opens for longer, up to the cap") {
  auto one = opened();
  auto now = start;
  for (auto const wait : {1s, 2s, 4s, 8s, 8s}) {
    CHECK(one.open_until() - now == wait);
    now = one.open_until();
    REQUIRE(one.ask(now) == admission::probe);
    one.failed(admission::probe, now, 0, options);
  }
  REQUIRE(one.ask(one.open_until()) == admission::probe);
  one.succeeded();
  one.failed(admission::yes, now, 0, options);
  one.failed(admission::yes, now, 0, options);
  CHECK(one.open_until() - now == 1s);
}

TEST_CASE("calls from before it opened neither prolong it nor decide the probe, but an answer closes it") {
  auto one = opened();
  one.failed(admission::yes, start + 500ms, 0, options);
  CHECK(one.open_until() == start + 1s);
  REQUIRE(one.ask(start + 1s) == admission::probe);
  one.failed(admission::yes, start + 1s, 0, options);
  CHECK(one.state() == breaker_state::half_open);
  one.succeeded();
  CHECK(one.state() == breaker_state::closed);
}

TEST_CASE("a probe whose caller left makes room for the next") {
  auto one = opened();
  REQUIRE(one.ask(start + 1s) == admission::probe);
  one.withdrawn(admission::yes, start + 1s);
  CHECK(one.ask(start + 1s) == admission::no);
  one.withdrawn(admission::probe, start + 1s);
  CHECK(one.ask(start + 1s) == admission::probe);
}

TEST_CASE("a driver may probe in place of a call, once it is time") {
  auto one = opened();
  CHECK_FALSE(one.begin_probe(start + 999ms));
  CHECK(one.begin_probe(start + 1s));
  CHECK_FALSE(one.begin_probe(start + 1s));
  CHECK(one.ask(start + 1h) == admission::no);
  one.probed(false, start + 1s, 0, options);
  CHECK(one.open_until() == start + 3s);
  REQUIRE(one.begin_probe(start + 3s));
  one.probed(true, start + 3s, 0, options);
  CHECK(one.ask(start + 3s) == admission::yes);
}

TEST_CASE("a probe that is answered closes on trial: the first call that fails opens again, for longer") {
  auto one = opened();
  REQUIRE(one.begin_probe(start + 1s));
  one.probed(true, start + 1s, 0, options);
  one.failed(admission::yes, start + 1s, 0, options);
  CHECK(one.state() == breaker_state::open);
  CHECK(one.open_until() == start + 3s);
  REQUIRE(one.begin_probe(start + 3s));
  one.probed(true, start + 3s, 0, options);
  one.succeeded();  // a call: all is forgotten
  one.failed(admission::yes, start + 3s, 0, options);
  CHECK(one.state() == breaker_state::closed);
}

TEST_CASE("a probe whose breaker was closed by a call meanwhile decides nothing") {
  auto one = opened();
  REQUIRE(one.begin_probe(start + 1s));
  one.succeeded();
  one.probed(false, start + 1s, 0, options);
  CHECK(one.state() == breaker_state::closed);
  CHECK_FALSE(one.begin_probe(start + 1h));
}

TEST_CASE("breaker options out of range are refused by name") {
  CHECK_THROWS_WITH_AS(check(breaker_options{0, {}}), doctest::Contains("failures"), std::invalid_argument);
  CHECK_THROWS_WITH_AS(check(breaker_options{1, {0}}), doctest::Contains("open.attempts"), std::invalid_argument);
}
