// What can be the name of a namespace.
#pragma once

#include <agones_alloc/config.hpp>

#include <algorithm>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A DNS label (RFC 1123).
inline auto is_namespace_name(std::string_view name) noexcept -> bool {
  auto const is_alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 63 && is_alphanumeric(name.front()) && is_alphanumeric(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_alphanumeric(c) || c == '-'; });
}

inline constexpr std::string_view namespace_name_wanted = "is no name of a namespace: at most 63 of a-z, 0-9 and - are";

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
