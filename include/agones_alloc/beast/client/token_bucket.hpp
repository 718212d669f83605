// How many requests may go, and when the next.
#pragma once

#include <agones_alloc/beast/client/client_options.hpp>
#include <agones_alloc/config.hpp>

#include <algorithm>
#include <chrono>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Kept as the time at which the bucket would be full again: no counting, no drift.
class token_bucket {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit token_bucket(client_rate const& rate) noexcept {
    if (rate.per_second == 0) return;
    step_ = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>{1 / rate.per_second});
    depth_ = step_ * static_cast<std::chrono::nanoseconds::rep>(rate.burst);
  }

  /// When one may be taken: `now` or later.
  auto ready_at(time_point now) const noexcept -> time_point {
    return step_.count() == 0 ? now : std::max(now, std::max(full_at_, now) + step_ - depth_);
  }
  void take(time_point now) noexcept {
    if (step_.count() != 0) full_at_ = std::max(full_at_, now) + step_;
  }

 private:
  std::chrono::nanoseconds step_{0};
  std::chrono::nanoseconds depth_{0};
  time_point full_at_{time_point::min()};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
