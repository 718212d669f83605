// 64-bit arithmetic that stops at its limits instead of overflowing (Q15).
#pragma once

#include <agones_alloc/config.hpp>

#include <cstdint>
#include <limits>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

constexpr auto saturating_add(std::int64_t a, std::int64_t b) noexcept -> std::int64_t {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

constexpr auto saturating_sub(std::int64_t a, std::int64_t b) noexcept -> std::int64_t {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b > 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
