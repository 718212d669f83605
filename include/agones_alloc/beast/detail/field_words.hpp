// The parts of a header field: lists, parameters, qualities.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline auto trimmed(std::string_view text) noexcept -> std::string_view {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

inline auto same_word(std::string_view a, std::string_view b) noexcept -> bool {
  if (a.size() != b.size()) return false;
  auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

/// Cuts the next part off `list`; quoted separators do not occur in the fields read here.
inline auto next_part(std::string_view& list, char separator) noexcept -> std::string_view {
  auto const end = list.find(separator);
  auto const part = trimmed(list.substr(0, end));
  list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  return part;
}

/// q in thousandths, 1000 when it is absent or no number.
inline auto quality_of(std::string_view parameters) noexcept -> int {
  while (!parameters.empty()) {
    auto const parameter = next_part(parameters, ';');
    auto const equals = parameter.find('=');
    if (equals == std::string_view::npos || !same_word(trimmed(parameter.substr(0, equals)), "q")) continue;
    auto const value = trimmed(parameter.substr(equals + 1));
    if (value.empty() || (value[0] != '0' && value[0] != '1')) return 1000;
    int out = (value[0] - '0') * 1000;
    int scale = 100;
    for (std::size_t i = 2; i < value.size() && i < 5; ++i, scale /= 10) {
      if (value[1] != '.' || value[i] < '0' || value[i] > '9') return 1000;
      out += (value[i] - '0') * scale;
    }
    return out > 1000 ? 1000 : out;
  }
  return 1000;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
