#include <agones_alloc/error.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;

TEST_CASE("error codes map to the conditions that retry rules test") {
  CHECK(error_code{errc::conflict} == condition::conflict);
  CHECK(error_code{errc::not_found} == condition::gone);
  CHECK(error_code{errc::unavailable} == condition::retryable);
  CHECK(error_code{errc::too_many_requests} == condition::retryable);
  CHECK(error_code{errc::outcome_unknown} == condition::outcome_unknown);
  CHECK(error_code{errc::cancelled} == condition::cancelled);
  CHECK(error_code{errc::malformed} == condition::invalid_request);
  CHECK_FALSE(error_code{errc::refused} == condition::retryable);
  CHECK_FALSE(error_code{errc::outcome_unknown} == condition::retryable);
  CHECK_FALSE(error_code{errc::ok});
}

TEST_CASE("every error code and outcome has words of its own") {
  for (int value = 0; value <= static_cast<int>(errc::limit_exceeded); ++value) {
    CHECK(error_code{static_cast<errc>(value)}.message() != "unknown error");
  }
  CHECK(error_code(9999, category()).message() == "unknown error");
  CHECK(to_string(outcome::exhausted) == "exhausted");
}
