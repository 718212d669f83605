// A quick hash of short texts, for tables in memory: not for hostile input, not the same everywhere.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Eight bytes at a time; every bit of the result depends on all of them.
inline auto text_hash(std::string_view text, std::uint64_t seed) noexcept -> std::uint64_t {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15ULL;
  auto mixed = (seed ^ text.size()) * factor;
  auto const* at = text.data();
  auto left = text.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    mixed = (mixed ^ word) * factor;
    mixed ^= mixed >> 32;
  }
  if (left != 0) {
    // All that is left, some of it twice; what that stands for is told by the size, which is in already.
    std::uint64_t word;
    if (left >= 4) {
      std::uint32_t first;
      std::uint32_t last;
      std::memcpy(&first, at, 4);
      std::memcpy(&last, at + left - 4, 4);
      word = std::uint64_t{first} << 32 | last;
    } else {
      auto const byte = [at](std::size_t index) { return std::uint64_t{static_cast<unsigned char>(at[index])}; };
      word = byte(0) << 16 | byte(left / 2) << 8 | byte(left - 1);
    }
    mixed = (mixed ^ word) * factor;
    mixed ^= mixed >> 32;
  }
  mixed *= 0xff51afd7ed558ccdULL;
  return mixed ^ (mixed >> 29);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
