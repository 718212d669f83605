#pragma once

#include <agones_alloc/beast/query_string.hpp>

#include <array>
#include <cstdint>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto hex_value(char c) noexcept -> int {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The unit a duration's text starts with, longest first, and its nanoseconds.
inline auto duration_unit(std::string_view& text) noexcept -> double {
  static constexpr std::array<std::pair<std::string_view, double>, 8> units{{{"ns", 1},
                                                                            {"us", 1e3},
                                                                            {"\xc2\xb5s", 1e3},
                                                                            {"\xce\xbcs", 1e3},
                                                                            {"ms", 1e6},
                                                                            {"s", 1e9},
                                                                            {"m", 60e9},
                                                                            {"h", 3600e9}}};
  for (auto const& [name, size] : units) {
    if (text.starts_with(name)) {
      text.remove_prefix(name.size());
      return size;
    }
  }
  return 0;
}

inline auto is_digit(std::string_view text) noexcept -> bool { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }

}  // namespace detail

AGONES_ALLOC_DECL auto percent_decoded(std::string_view text, bool plus_is_space) -> std::optional<std::string> {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      auto const high = i + 2 < text.size() ? detail::hex_value(text[i + 1]) : -1;
      auto const low = i + 2 < text.size() ? detail::hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

AGONES_ALLOC_DECL auto query_values(std::string_view query, std::string_view name) -> std::vector<std::string> {
  std::vector<std::string> out;
  while (!query.empty()) {
    auto const end = query.find('&');
    auto const part = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
    auto const equals = part.find('=');
    auto const key = part.substr(0, equals);
    auto const value = equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1);
    if (percent_decoded(key, true).value_or(std::string{key}) != name) continue;
    out.push_back(percent_decoded(value, true).value_or(std::string{value}));
  }
  return out;
}

AGONES_ALLOC_DECL auto parse_go_duration(std::string_view text) -> std::optional<std::chrono::nanoseconds> {
  static constexpr double longest = 366 * 24 * 3600e9;
  if (text == "0") return std::chrono::nanoseconds{0};
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    double number = 0;
    bool any = false;
    for (; detail::is_digit(text); text.remove_prefix(1), any = true) number = number * 10 + (text[0] - '0');
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      double scale = 0.1;
      for (; detail::is_digit(text); text.remove_prefix(1), scale /= 10, any = true) number += scale * (text[0] - '0');
    }
    auto const unit = detail::duration_unit(text);
    if (!any || unit == 0) return std::nullopt;
    total += number * unit;
    if (!(total <= longest)) return std::nullopt;
  }
  return std::chrono::nanoseconds{static_cast<std::int64_t>(total)};
}

AGONES_ALLOC_DECL auto parse_grpc_timeout(std::string_view text) -> std::optional<std::chrono::nanoseconds> {
  if (text.size() < 2 || text.size() > 9) return std::nullopt;
  std::int64_t number = 0;
  for (char const c : text.substr(0, text.size() - 1)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  constexpr std::int64_t day = 24 * 3600;
  auto const seconds = [](std::int64_t s) { return std::chrono::nanoseconds{std::chrono::seconds{s}}; };
  switch (text.back()) {
    case 'H': return seconds(number > 365 * 24 ? 365 * day : number * 3600);
    case 'M': return seconds(number > 365 * 24 * 60 ? 365 * day : number * 60);
    case 'S': return seconds(number > 365 * day ? 365 * day : number);
    case 'm': return std::chrono::nanoseconds{number * 1'000'000};
    case 'u': return std::chrono::nanoseconds{number * 1'000};
    case 'n': return std::chrono::nanoseconds{number};
    default: return std::nullopt;
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
