// When the patience of a caller ends.
#pragma once

#include <agones_alloc/async/allocator_options.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <algorithm>
#include <chrono>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// No later than time can say.
inline auto saturated(timer::time_point from, std::chrono::nanoseconds wait) noexcept -> timer::time_point {
  return wait < timer::time_point::max() - from ? from + wait : timer::time_point::max();
}

/// `otherwise`: for a call that says nothing.
inline auto call_deadline(allocate_options const& call, timer::time_point now, std::chrono::nanoseconds otherwise) noexcept
    -> timer::time_point {
  if (!call.deadline && !call.timeout) return saturated(now, otherwise);
  auto const after = call.timeout ? saturated(now, *call.timeout) : timer::time_point::max();
  return std::min(call.deadline.value_or(timer::time_point::max()), after);
}

/// time_point::min(): it does not wait for a server.
inline auto call_wait_until(allocate_options const& call, timer::time_point now) noexcept -> timer::time_point {
  return call.wait_for.count() > 0 ? saturated(now, call.wait_for) : timer::time_point::min();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
