#pragma once

#include <agones_alloc/yaml/scalar.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

namespace detail {

// Longer texts are never numbers that anyone means; it bounds the copies made below.
inline constexpr std::size_t longest_number = 512;

inline constexpr std::array<std::string_view, 11> true_words{"y",    "Y",    "yes", "Yes", "YES", "true",
                                                             "True", "TRUE", "on",  "On",  "ON"};
inline constexpr std::array<std::string_view, 11> false_words{"n",     "N",     "no",  "No",  "NO", "false",
                                                              "False", "FALSE", "off", "Off", "OFF"};
inline constexpr std::array<std::string_view, 5> null_words{"", "~", "null", "Null", "NULL"};
inline constexpr std::array<std::string_view, 3> nan_words{".nan", ".NaN", ".NAN"};
inline constexpr std::array<std::string_view, 6> infinity_words{".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"};
inline constexpr std::array<std::string_view, 3> minus_infinity_words{"-.inf", "-.Inf", "-.INF"};

template <std::size_t N>
auto is_one_of(std::array<std::string_view, N> const& words, std::string_view text) noexcept -> bool {
  return std::find(words.begin(), words.end(), text) != words.end();
}

inline auto is_digit(char c) noexcept -> bool { return c >= '0' && c <= '9'; }

/// Sign, base prefix and digits; nothing when it is no integer or needs more than 64 bits.
inline auto parse_integer(std::string_view text) noexcept -> std::optional<scalar> {
  bool const negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    auto const mark = text[1];
    base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
    text.remove_prefix(base != 8 || mark == 'o' || mark == 'O' ? 2 : 1);
  }
  std::uint64_t magnitude = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  scalar out;
  if (negative) {
    if (magnitude > most + 1) return std::nullopt;
    out.what = scalar::kind::integer;
    out.integer = static_cast<std::int64_t>(0 - magnitude);
  } else if (magnitude <= most) {
    out.what = scalar::kind::integer;
    out.integer = static_cast<std::int64_t>(magnitude);
  } else {
    out.what = scalar::kind::unsigned_integer;
    out.unsigned_integer = magnitude;
  }
  return out;
}

/// [-+]? ( .digits | digits [. [digits]] ) [ e [-+] digits ]
inline auto looks_like_float(std::string_view text) noexcept -> bool {
  auto const skip_digits = [&text] {
    std::size_t count = 0;
    while (!text.empty() && is_digit(text.front())) text.remove_prefix(1), ++count;
    return count;
  };
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  auto const whole = skip_digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (skip_digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (skip_digits() == 0) return false;
  }
  return text.empty();
}

inline auto number_of(double real) noexcept -> scalar {
  scalar out;
  // Whole numbers are printed without a point or an exponent in JSON, and so read back as integers.
  if (real == std::trunc(real) && std::abs(real) < 0x1p63) {
    out.what = scalar::kind::integer;
    out.integer = static_cast<std::int64_t>(real);
    return out;
  }
  out.what = scalar::kind::real;
  out.real = real;
  return out;
}

inline auto parse_float(std::string_view text) noexcept -> std::optional<scalar> {
  if (!looks_like_float(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double real = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), real);
  // Out of range is no number: the reference keeps such a text as a string.
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number_of(real);
}

inline auto constant(scalar::kind what, double real = 0) noexcept -> scalar {
  scalar out;
  out.what = what;
  out.real = real;
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL auto resolve_plain(std::string_view text) noexcept -> scalar {
  using detail::is_one_of;
  if (is_one_of(detail::null_words, text)) return detail::constant(scalar::kind::null);
  if (bool const yes = is_one_of(detail::true_words, text); yes || is_one_of(detail::false_words, text)) {
    auto out = detail::constant(scalar::kind::boolean);
    out.boolean = yes;
    return out;
  }
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  if (is_one_of(detail::infinity_words, text)) return detail::constant(scalar::kind::real, infinity);
  if (is_one_of(detail::minus_infinity_words, text)) return detail::constant(scalar::kind::real, -infinity);
  if (is_one_of(detail::nan_words, text)) {
    return detail::constant(scalar::kind::real, std::numeric_limits<double>::quiet_NaN());
  }
  char const first = text.front();
  if (text.size() > detail::longest_number ||
      !(detail::is_digit(first) || first == '+' || first == '-' || first == '.')) {
    return {};
  }
  if (first == '.') return detail::parse_float(text).value_or(scalar{});
  std::array<char, detail::longest_number> digits;
  auto const* const end = std::remove_copy(text.begin(), text.end(), digits.data(), '_');
  std::string_view const plain{digits.data(), static_cast<std::size_t>(end - digits.data())};
  if (auto const number = detail::parse_integer(plain)) return *number;
  return detail::parse_float(plain).value_or(scalar{});
}

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
