// How a claim is written in an annotation: `name=value` joined by `&`, with what would be mistaken percent-encoded.
#pragma once

#include <agones_alloc/config.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Most texts are short: they take no memory but its own.
class claim_writer {
 public:
  claim_writer() noexcept {}
  claim_writer(claim_writer const&) = delete;
  auto operator=(claim_writer const&) -> claim_writer& = delete;

  /// The prefix has nothing to be encoded.
  void add(std::string_view prefix, std::string_view name, std::string_view value) {
    auto* to = begin_field(prefix.size() + 3 * (name.size() + value.size()) + 1);
    to = encode(put(to, prefix), name);
    *to++ = '=';
    end_ = encode(to, value);
  }
  /// Of a name and a value that have nothing to be encoded.
  void add_plain(std::string_view name, std::string_view value) {
    auto* to = put(begin_field(name.size() + value.size() + 1), name);
    *to++ = '=';
    end_ = put(to, value);
  }
  void append(claim_writer const& other) {
    auto const theirs = other.text();
    if (!theirs.empty()) end_ = put(begin_field(theirs.size()), theirs);
  }
  auto text() const noexcept -> std::string_view { return {begin_, static_cast<std::size_t>(end_ - begin_)}; }

 private:
  static auto put(char* to, std::string_view text) noexcept -> char* {
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    return to + text.size();
  }
  static auto encode(char* to, std::string_view text) noexcept -> char* {
    static constexpr std::string_view hex = "0123456789ABCDEF";
    static constexpr auto plain = [] {
      std::array<bool, 256> out{};
      for (std::size_t i = 0x21; i != 0x7f; ++i) out[i] = i != '%' && i != '&' && i != '=';
      return out;
    }();
    for (char const c : text) {
      auto const byte = static_cast<unsigned char>(c);
      *to++ = plain[byte] ? c : '%';
      if (plain[byte]) continue;
      *to++ = hex[byte >> 4U];
      *to++ = hex[byte & 15U];
    }
    return to;
  }
  /// Where the next field is to be written: there is room for so many characters more.
  auto begin_field(std::size_t most) -> char* {
    auto const size = static_cast<std::size_t>(end_ - begin_);
    if (room_ - size <= most) grow(size, most);
    if (size != 0) *end_++ = '&';
    return end_;
  }
  void grow(std::size_t size, std::size_t most) {
    room_ = 2 * (size + most + 1);
    std::unique_ptr<char[]> more{new char[room_]};
    std::memcpy(more.get(), begin_, size);
    far_ = std::move(more);
    begin_ = far_.get();
    end_ = begin_ + size;
  }

  std::array<char, 768> near_;
  std::unique_ptr<char[]> far_;
  char* begin_{near_.data()};
  char* end_{near_.data()};
  std::size_t room_{near_.size()};
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
    return std::string{out.text()};
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
