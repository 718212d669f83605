// Names and ids of simulated objects, made the way Kubernetes makes them.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/port/random.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// `<base>-<five random letters or digits>`, the base cut so that the whole has at most 63 characters. The letters are
/// Kubernetes': no vowels, none that look alike.
inline auto generated_name(std::string_view base, random_source& random) -> std::string {
  static constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";
  auto out = std::string{base.substr(0, 57)} + "-";
  for (int i = 0; i < 5; ++i) out += letters[random.below(letters.size())];
  return out;
}

/// A random (version 4) UUID.
inline auto generated_uid(random_source& random) -> std::string {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out;
  out.reserve(36);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    if (i % 16 == 0) bits = random.next();
    if (i == 8 || i == 12 || i == 16 || i == 20) out += '-';
    auto nibble = bits & 15U;
    bits >>= 4;
    if (i == 12) nibble = 4;
    if (i == 16) nibble = 8 | (nibble & 3U);
    out += hex[nibble];
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
