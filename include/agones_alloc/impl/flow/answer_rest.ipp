#pragma once

#include <agones_alloc/flow/answer_rest.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// What the fields of an answer's head say about its end.
class answer_head {
 public:
  /// False: the connection is not to be kept.
  auto status(std::string_view line) noexcept -> bool {
    auto const digit = [&](std::size_t at) { return line[at] >= '0' && line[at] <= '9'; };
    bool const known = line.starts_with("HTTP/1.1 ") && line.size() >= 12 && line[9] >= '2' && line[9] <= '5' && digit(10) && digit(11) &&
                       (line.size() == 12 || line[12] == ' ');
    if (!known) return false;
    auto const code = line.substr(9, 3);
    bodiless_ = code == "204" || code == "304";
    return true;
  }

  auto field(std::string_view line) noexcept -> bool {
    auto const colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos) return false;
    auto const name = line.substr(0, colon);
    // Of a folded line the first byte is a space.
    if (name.find_first_of(" \t") != std::string_view::npos || line.find_first_of(std::string_view{"\r\n\0", 3}) != std::string_view::npos) return false;
    auto value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
    if (is(name, "transfer-encoding") || is(name, "upgrade")) return false;
    if (is(name, "connection")) return is(value, "keep-alive");
    if (!is(name, "content-length")) return true;
    if (length_ || value.empty()) return false;
    std::size_t number = 0;
    auto const [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (fault != std::errc{} || end != value.data() + value.size()) return false;
    length_ = number;
    return true;
  }

  /// nullopt: it does not say.
  auto length() const noexcept -> std::optional<std::size_t> {
    if (!bodiless_) return length_;
    return length_.value_or(0) == 0 ? std::optional<std::size_t>{0} : std::nullopt;
  }

 private:
  static auto is(std::string_view text, std::string_view lower) noexcept -> bool {
    auto const small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [&](char x, char y) { return small(x) == y; });
  }

  std::optional<std::size_t> length_;
  bool bodiless_{false};
};

}  // namespace detail

AGONES_ALLOC_DECL auto rest_of_answer(std::string_view text, std::size_t most) noexcept -> answer_rest {
  constexpr std::string_view line_end = "\r\n";
  detail::answer_head head;
  bool first = true;
  auto left = text;
  while (true) {
    auto const end = left.find(line_end);
    if (end == std::string_view::npos) return text.size() < most ? answer_rest::more : answer_rest::open;
    auto const line = left.substr(0, end);
    left.remove_prefix(end + line_end.size());
    if (line.empty() && !first) break;
    if (!(first ? head.status(line) : head.field(line))) return answer_rest::open;
    first = false;
  }
  auto const length = head.length();
  auto const head_size = text.size() - left.size();
  if (!length || head_size > most || *length > most - head_size || left.size() > *length) return answer_rest::open;
  return left.size() == *length ? answer_rest::whole : text.size() < most ? answer_rest::more : answer_rest::open;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
