// An id for what came without one.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/port/random.hpp>

#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// 128 bits, as hexadecimal digits: unique without asking anybody.
inline auto drawn_id(random_source& random) -> std::string {
  static constexpr std::string_view hex = "0123456789abcdef";
  std::string out(32, '0');
  auto at = out.begin();
  for (int word = 0; word < 2; ++word) {
    auto bits = random.next();
    for (int digit = 0; digit < 16; ++digit, bits >>= 4U) *at++ = hex[bits & 15U];
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
