// Which bytes of a JSON string need escaping, and how.
#pragma once

#include <agones_alloc/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

/// Length of the valid UTF-8 sequence at the front of `text`, 0 when there is none (RFC 3629: no surrogates, no
/// overlong forms, at most U+10FFFF).
inline auto utf8_sequence(std::string_view text) noexcept -> std::size_t {
  auto const byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto const tail = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  if (text.empty()) return 0;
  auto const lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return tail(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    return tail(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) && tail(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    return tail(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

/// True when all eight bytes go out as they are: no control, quote or backslash, and ASCII.
inline auto plain_octet(std::uint64_t bytes) noexcept -> bool {
  constexpr std::uint64_t ones = 0x0101010101010101ULL;
  constexpr std::uint64_t tops = ones << 7U;
  auto const has_zero = [](std::uint64_t v) { return (v - ones) & ~v & tops; };
  auto const control = (bytes - ones * 0x20) & ~bytes;  // below 0x20, as far as no byte has its top bit set
  return ((bytes | control) & tops) == 0 && has_zero(bytes ^ (ones * '"')) == 0 && has_zero(bytes ^ (ones * '\\')) == 0;
}

/// How many bytes at the front of `text` go out as they are, valid UTF-8 included.
inline auto plain_prefix(std::string_view text) noexcept -> std::size_t {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= 8) {
      std::uint64_t octet;
      std::memcpy(&octet, text.data() + at, 8);
      if (plain_octet(octet)) {
        at += 8;
        continue;
      }
    }
    auto const byte = static_cast<unsigned char>(text[at]);
    auto const length = byte < 0x20 || byte == '"' || byte == '\\' ? 0 : utf8_sequence(text.substr(at, 4));
    if (length == 0) break;
    at += length;
  }
  return at;
}

/// What stands for a byte that cannot go out as it is; U+FFFD for what is not UTF-8.
inline auto escape_of(char c, std::array<char, 6>& buffer) noexcept -> std::string_view {
  static constexpr std::string_view hex = "0123456789abcdef";
  switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\b': return "\\b";
    case '\f': return "\\f";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: break;
  }
  auto const byte = static_cast<unsigned char>(c);
  if (byte >= 0x80) return "\xef\xbf\xbd";
  buffer = {'\\', 'u', '0', '0', hex[byte >> 4U], hex[byte & 15U]};
  return {buffer.data(), buffer.size()};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
