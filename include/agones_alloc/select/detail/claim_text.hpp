// How a claim is written in an annotation: `name=value` joined by `&`, with what would be mistaken percent-encoded.
#pragma once

#include <agones_alloc/config.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

class claim_writer {
 public:
  void add(std::string_view prefix, std::string_view name, std::string_view value) {
    make_room(prefix.size() + name.size() + value.size() + 2);
    if (!text_.empty()) text_ += '&';
    encode(prefix);
    encode(name);
    text_ += '=';
    encode(value);
  }
  /// Of a name and a value that have nothing to be encoded.
  void add_plain(std::string_view name, std::string_view value) {
    make_room(name.size() + value.size() + 2);
    if (!text_.empty()) text_ += '&';
    text_.append(name).append(1, '=').append(value);
  }
  void append(claim_writer const& other) {
    if (!text_.empty() && !other.text_.empty()) text_ += '&';
    text_ += other.text_;
  }
  auto text() const noexcept -> std::string const& { return text_; }

 private:
  void make_room(std::size_t more) {
    auto const needed = text_.size() + more;
    if (text_.capacity() < needed) text_.reserve(std::max<std::size_t>(2 * needed, 256));
  }
  void encode(std::string_view part) {
    static constexpr std::string_view hex = "0123456789ABCDEF";
    auto const is_plain = [](char c) { return c > ' ' && c < 0x7f && c != '%' && c != '&' && c != '='; };
    for (auto at = part.begin();;) {
      auto const plain_until = std::find_if_not(at, part.end(), is_plain);
      text_.append(at, plain_until);
      if (plain_until == part.end()) return;
      auto const byte = static_cast<unsigned char>(*plain_until);
      text_ += '%';
      text_ += hex[byte >> 4U];
      text_ += hex[byte & 15U];
      at = plain_until + 1;
    }
  }
  std::string text_;
};

/// f(name, value) for each field, as they are written, while it returns true.
template <class F>
void each_claim_field(std::string_view text, F f) {
  while (!text.empty()) {
    auto const end = std::min(text.find('&'), text.size());
    auto const field = text.substr(0, end);
    text.remove_prefix(end == text.size() ? end : end + 1);
    auto const equals = field.find('=');
    if (equals != std::string_view::npos && !f(field.substr(0, equals), field.substr(equals + 1))) return;
  }
}

/// The fields of a text without a '%': nothing needs to be decoded, so nothing is copied.
class plain_claim_fields {
 public:
  explicit plain_claim_fields(std::string_view text) noexcept : text_{text}, rest_{text} {}
  auto value(std::string_view name) noexcept -> std::optional<std::string_view> {
    // Nearly always they are asked for in the order in which they were written.
    if (rest_.size() > name.size() && rest_[name.size()] == '=' && rest_.starts_with(name)) return next(name.size() + 1);
    std::optional<std::string_view> out;
    each_claim_field(text_, [&](std::string_view known, std::string_view value) {
      if (known == name) out = value;
      return !out;
    });
    return out;
  }

 private:
  auto next(std::size_t from) noexcept -> std::string_view {
    auto const end = std::min(rest_.find('&', from), rest_.size());
    auto const out = rest_.substr(from, end - from);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return out;
  }
  std::string_view text_;
  std::string_view rest_;
};

/// The fields, decoded. Of a text that is not ours what can be read.
class claim_fields {
 public:
  explicit claim_fields(std::string_view text) {
    each_claim_field(text, [this](std::string_view name, std::string_view value) {
      fields_.emplace_back(decode(name), decode(value));
      return true;
    });
  }

  auto value(std::string_view name) const -> std::optional<std::string> {
    for (auto const& [known, value] : fields_) {
      if (known == name) return value;
    }
    return std::nullopt;
  }
  /// f(rest of the name, value) for each field whose name begins so.
  template <class F>
  void each(std::string_view prefix, F f) const {
    for (auto const& [name, value] : fields_) {
      if (name.starts_with(prefix)) f(name.substr(prefix.size()), value);
    }
  }
  void erase(std::string_view name) {
    std::erase_if(fields_, [name](auto const& field) { return field.first == name; });
  }
  auto text() const -> std::string {
    claim_writer out;
    for (auto const& [name, value] : fields_) out.add({}, name, value);
    return out.text();
  }

 private:
  static auto decode(std::string_view text) -> std::string {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      unsigned byte = 0;
      if (text[i] == '%' && i + 2 < text.size() &&
          std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
        out += static_cast<char>(byte);
        i += 2;
      } else {
        out += text[i];
      }
    }
    return out;
  }
  std::vector<std::pair<std::string, std::string>> fields_;
};

inline auto parse_number(std::string_view text) noexcept -> std::optional<std::int64_t> {
  std::int64_t out = 0;
  auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (ec != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

/// Sixteen hexadecimal digits.
inline auto parse_digits(std::string_view text) noexcept -> std::optional<std::uint64_t> {
  if (text.size() != 16) return std::nullopt;
  std::uint64_t out = 0;
  for (char const c : text) {
    auto const lower = static_cast<unsigned char>(c | 0x20);
    auto const decimal = static_cast<unsigned>(c) - '0';
    auto const letter = static_cast<unsigned>(lower) - 'a';
    if (decimal > 9 && letter > 5) return std::nullopt;
    out = out << 4 | (decimal <= 9 ? decimal : letter + 10);
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
