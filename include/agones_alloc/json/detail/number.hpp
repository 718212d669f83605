// The integer a JSON value stands for, in either dialect.
#pragma once

#include <agones_alloc/config.hpp>

#include <boost/json/value.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

/// int64, else uint64 (only what int64 cannot hold), else none.
using json_integer = std::variant<std::monostate, std::int64_t, std::uint64_t>;

inline auto plain_number(boost::json::value const& value) noexcept -> json_integer {
  if (value.is_int64()) return value.get_int64();
  if (value.is_uint64()) return value.get_uint64();
  return {};
}

/// A double that is an integer beyond doubt: past 2^53 the text's own digits may be gone.
inline auto whole_number(double number) noexcept -> json_integer {
  constexpr double exact = 9007199254740992.0;
  if (!(std::fabs(number) <= exact) || std::floor(number) != number) return {};
  return static_cast<std::int64_t>(number);
}

inline auto text_number(std::string_view text) noexcept -> json_integer {
  constexpr std::size_t longest = 32;
  if (text.empty() || text.size() > longest) return {};
  // JSON's grammar for numbers, which from_chars alone does not keep: no `01`, `.5`, `5.`, `inf`.
  auto const digits = text.substr(text.front() == '-' ? 1 : 0);
  if (digits.empty() || digits.front() < '0' || digits.front() > '9' || digits.back() < '0' || digits.back() > '9')
    return {};
  if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') return {};
  auto const* const begin = text.data();
  auto const* const end = begin + text.size();
  std::int64_t narrow = 0;
  if (auto const [at, ec] = std::from_chars(begin, end, narrow); ec == std::errc{} && at == end) return narrow;
  std::uint64_t wide = 0;
  if (auto const [at, ec] = std::from_chars(begin, end, wide); ec == std::errc{} && at == end) return wide;
  if (text.find(".e") != std::string_view::npos || text.find(".E") != std::string_view::npos) return {};
  double number = 0;
  if (auto const [at, ec] = std::from_chars(begin, end, number); ec != std::errc{} || at != end) return {};
  return whole_number(number);
}

/// proto-JSON: a number, a text holding a number, or a float without a fraction (`100.0`, `1e2`).
inline auto proto_number(boost::json::value const& value) noexcept -> json_integer {
  if (value.is_double()) return whole_number(value.get_double());
  if (value.is_string()) return text_number(value.get_string());
  return plain_number(value);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
