#pragma once

#include <agones_alloc/flow/backoff.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL void check(backoff_options const& options, char const* prefix) {
  auto const refuse = [prefix](char const* field, char const* what) {
    throw std::invalid_argument{std::string{prefix} + "." + field + ": " + what};
  };
  if (options.attempts == 0) refuse("attempts", "must be at least 1");
  if (options.base < std::chrono::nanoseconds::zero()) refuse("base", "must not be negative");
  if (options.cap < options.base) refuse("cap", "must not be less than base");
  if (!(options.factor >= 1.0) || !std::isfinite(options.factor)) refuse("factor", "must be at least 1");
  if (!(options.jitter >= 0.0 && options.jitter <= 1.0)) refuse("jitter", "must be between 0 and 1");
}

AGONES_ALLOC_DECL auto backoff::wait_after(std::uint32_t failures, double draw) const noexcept
    -> std::optional<std::chrono::nanoseconds> {
  if (failures >= options_.attempts) return std::nullopt;
  auto const cap = static_cast<double>(options_.cap.count());
  auto const grown = static_cast<double>(options_.base.count()) *
                     std::pow(options_.factor, static_cast<double>(failures == 0 ? 0 : failures - 1));
  auto const wait = std::min(grown, cap) * (1.0 + options_.jitter * draw);
  // Below 2^62 the conversion is exact enough and cannot overflow.
  return std::chrono::nanoseconds{static_cast<std::int64_t>(std::min(wait, 0x1.0p62))};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
