#pragma once

#include <agones_alloc/json/base64.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline constexpr std::string_view base64_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline constexpr auto base64_values = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < base64_alphabet.size(); ++i) {
    values[static_cast<unsigned char>(base64_alphabet[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}();

}  // namespace detail::wire

AGONES_ALLOC_DECL auto encode_base64(std::string_view bytes) -> std::string {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    auto const group = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8U | (j < group.size() ? static_cast<unsigned char>(group[j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) {
      out += j <= group.size() ? detail::wire::base64_alphabet[bits >> (18U - 6U * j) & 63U] : '=';
    }
  }
  return out;
}

AGONES_ALLOC_DECL auto decode_base64(std::string_view text) -> std::optional<std::string> {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (char const c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    auto const value = detail::wire::base64_values[static_cast<unsigned char>(c)];
    if (value < 0 || padding > 0) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    if (++digits % 4 == 0) {
      for (unsigned shift = 24; shift > 0;) out += static_cast<char>(bits >> (shift -= 8) & 255U);
      bits = 0;
    }
  }
  auto const rest = digits % 4;
  if (rest == 1 || padding != (rest == 0 ? 0 : 4 - rest)) return std::nullopt;
  if (rest == 2) out += static_cast<char>(bits >> 4U & 255U);
  if (rest == 3) {
    out += static_cast<char>(bits >> 10U & 255U);
    out += static_cast<char>(bits >> 2U & 255U);
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
