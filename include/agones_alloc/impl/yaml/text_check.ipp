#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {
namespace detail {

struct bad_byte {
  std::size_t line{0};
  std::string message;
};

/// Length of the UTF-8 sequence at the front of `text`; 0 when there is none.
inline auto utf8_length(std::string_view text) noexcept -> std::size_t {
  auto const byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto const lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what is above U+10FFFF.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) || (lead == 0xf0 && byte(1) < 0x90) ||
      (lead == 0xf4 && byte(1) > 0x8f)) {
    return 0;
  }
  return length;
}

inline auto is_utf8(std::string_view text) noexcept -> bool {
  while (!text.empty()) {
    auto const length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// The first byte that cannot stand in a YAML text. Binary files end here, before any parser sees them.
inline auto find_bad_byte(std::string_view text) -> std::optional<bad_byte> {
  static constexpr char hex[] = "0123456789abcdef";
  std::size_t line = 1;
  while (!text.empty()) {
    auto const c = static_cast<unsigned char>(text.front());
    auto const length = utf8_length(text);
    if (length == 0) return bad_byte{line, std::string{"not UTF-8 text (byte 0x"} + hex[c >> 4] + hex[c & 15] + ")"};
    if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') {
      return bad_byte{line, std::string{"control character 0x"} + hex[c >> 4] + hex[c & 15] + " in the text"};
    }
    if (c == '\n') ++line;
    text.remove_prefix(length);
  }
  return std::nullopt;
}

/// Where documents may begin without `---`: where nothing but blank lines, comments and directives is before, or the
/// document before was closed by `...`. The parser in use would begin a new document after any complete one.
class document_starts {
 public:
  explicit document_starts(std::string_view text) noexcept : rest_{text} {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  }

  /// `line` counts from 1 and `column` from 0; no line may come before that of the last call, so that a text is gone
  /// through once however many documents it has.
  auto may_begin(std::size_t line, std::size_t column) noexcept -> bool {
    for (; !rest_.empty(); ++line_) {
      auto const end = rest_.find('\n');
      auto const row = rest_.substr(0, end);
      if (line_ >= line) {
        return row.starts_with("---") ||
               (allowed_ && row.substr(0, column).find_first_not_of(" \t") == std::string_view::npos);
      }
      auto const first = row.find_first_not_of(" \t\r");
      if (row.starts_with("...")) {
        allowed_ = true;
      } else if (first != std::string_view::npos && row[first] != '#' && row[first] != '%') {
        allowed_ = false;
      }
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    }
    return allowed_;
  }

 private:
  std::string_view rest_;
  std::size_t line_{1};
  bool allowed_{true};
};

}  // namespace detail
}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
