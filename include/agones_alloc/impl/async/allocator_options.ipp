#pragma once

#include <agones_alloc/async/allocator_options.hpp>

#include <stdexcept>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL void check(allocator_options const& options) {
  auto const want = [](bool good, char const* field, char const* what) {
    if (!good) throw std::invalid_argument{std::string{"allocator_options."} + field + ": " + what};
  };
  constexpr auto zero = std::chrono::nanoseconds::zero();
  want(options.timeout > zero, "timeout", "must be positive");
  want(options.limits.park >= zero, "limits.park", "must not be negative");
  want(options.limits.resolve_attempts > 0, "limits.resolve_attempts", "must be at least 1");
  check(options.limits.resolve, "allocator_options.limits.resolve");
  want(options.max_operations > 0, "max_operations", "must be at least 1");
  want(options.max_writes > 0, "max_writes", "must be at least 1");
  want(options.batch > 0, "batch", "must be at least 1");
  want(options.overload_retry_after >= zero, "overload_retry_after", "must not be negative");
  want(options.claims.remember >= zero, "claims.remember", "must not be negative");
  want(options.breakdown_age >= zero, "breakdown_age", "must not be negative");
  want(options.choice.top_n >= 1 && options.choice.top_n <= 1024, "choice.top_n", "must be between 1 and 1024");
  want(options.choice.prefer.count >= 1 && options.choice.prefer.count <= 1024, "choice.prefer.count", "must be between 1 and 1024");
  want(options.choice.prefer.index < options.choice.prefer.count, "choice.prefer.index", "must be less than count");
  want(options.choice.order != order_kind::custom || options.choice.custom != nullptr, "choice.custom",
       "is needed where choice.order is custom");
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
