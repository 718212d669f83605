#include <agones_alloc/flow/backoff.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>
#include <string>

using namespace agones_alloc;
using namespace std::chrono_literals;

TEST_CASE("the default is the reference's: five attempts, ten milliseconds apart") {
  backoff const policy;
  for (std::uint32_t failures = 1; failures < 5; ++failures) CHECK(policy.wait_after(failures, 0.0) == 10ms);
  CHECK(policy.wait_after(5, 0.0) == std::nullopt);
  CHECK(policy.wait_after(6, 0.0) == std::nullopt);
}

TEST_CASE("jitter prolongs a wait by up to a tenth and never shortens it") {
  backoff const policy;
  CHECK(policy.wait_after(1, 0.5) == 10500us);
  auto const longest = policy.wait_after(1, 0.999999);
  REQUIRE(longest);
  CHECK(*longest > 10900us);
  CHECK(*longest < 11ms);
}

TEST_CASE("waits grow by the factor up to the cap") {
  backoff const policy{{8, 100ms, 2.0, 0.0, 1s}};
  CHECK(policy.wait_after(1, 0.9) == 100ms);
  CHECK(policy.wait_after(2, 0.9) == 200ms);
  CHECK(policy.wait_after(4, 0.9) == 800ms);
  CHECK(policy.wait_after(5, 0.9) == 1s);
  CHECK(policy.wait_after(7, 0.9) == 1s);
}

TEST_CASE("an endless back-off stays at its cap, however many failures") {
  backoff const policy{backoff_options::endless(10ms, 5s)};
  CHECK(policy.wait_after(1'000'000, 0.0) == 5s);
  CHECK(policy.wait_after(4'000'000'000U, 1.0) == 5500ms);
}

TEST_CASE("options out of range are refused by name") {
  auto const complaint = [](backoff_options options) -> std::string {
    try {
      check(options, "retry");
    } catch (std::invalid_argument const& e) {
      return e.what();
    }
    return "";
  };
  CHECK(complaint({}) == "");
  CHECK(complaint({0, 1ms, 1, 0, 1s}) == "retry.attempts: must be at least 1");
  CHECK(complaint({1, -1ms, 1, 0, 1s}) == "retry.base: must not be negative");
  CHECK(complaint({1, 1s, 1, 0, 1ms}) == "retry.cap: must not be less than base");
  CHECK(complaint({1, 1ms, 0.5, 0, 1s}) == "retry.factor: must be at least 1");
  CHECK(complaint({1, 1ms, std::nan(""), 0, 1s}) == "retry.factor: must be at least 1");
  CHECK(complaint({1, 1ms, 1, 1.5, 1s}) == "retry.jitter: must be between 0 and 1");
  CHECK(complaint({1, 1ms, 1, std::nan(""), 1s}) == "retry.jitter: must be between 0 and 1");
}
