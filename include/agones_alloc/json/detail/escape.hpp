// A JSON string of any bytes.
#pragma once

#include <agones_alloc/config.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Length of the valid UTF-8 sequence at the front of `text`, 0 when there is none (RFC 3629: no surrogates, no overlong
/// forms, at most U+10FFFF).
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

inline constexpr auto plain_json_characters = [] {
  std::array<bool, 256> plain{};
  for (std::size_t i = 0x20; i < 0x80; ++i) plain[i] = i != '"' && i != '\\';
  return plain;
}();

inline void append_control_escape(std::string& out, char c) {
  static constexpr std::string_view hex = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\b': out += "\\b"; break;
    case '\f': out += "\\f"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default:
      out += "\\u00";
      out += hex[static_cast<unsigned char>(c) >> 4];
      out += hex[static_cast<unsigned char>(c) & 15];
  }
}

/// Appends `text` in quotes. What is not UTF-8 becomes U+FFFD, byte for byte, so the output always is.
inline void append_escaped(std::string& out, std::string_view text) {
  out += '"';
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size();) {
    auto const byte = static_cast<unsigned char>(text[i]);
    if (plain_json_characters[byte]) {
      ++i;
      continue;
    }
    auto const length = byte < 0x80 ? 0 : utf8_sequence(text.substr(i, 4));
    if (length == 0) {
      out.append(text.substr(done, i - done));
      if (byte < 0x80) {
        append_control_escape(out, text[i]);
      } else {
        out += "\xef\xbf\xbd";
      }
      done = i + 1;
    }
    i += length == 0 ? 1 : length;
  }
  out.append(text.substr(done));
  out += '"';
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
