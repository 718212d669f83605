#pragma once

#include <agones_alloc/cache/freshness.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto is_decimal(std::string_view text) noexcept -> bool {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

inline auto without_leading_zeros(std::string_view text) noexcept -> std::string_view {
  auto const at = text.find_first_not_of('0');
  return at == std::string_view::npos ? std::string_view{} : text.substr(at);
}

}  // namespace detail

AGONES_ALLOC_DECL auto is_newer_version(std::string_view incoming, std::string_view known) noexcept -> bool {
  if (!detail::is_decimal(incoming) || !detail::is_decimal(known)) return incoming != known;
  if (incoming.front() != '0' && known.front() != '0') {
    return incoming.size() != known.size() ? incoming.size() > known.size() : incoming > known;
  }
  auto const a = detail::without_leading_zeros(incoming);
  auto const b = detail::without_leading_zeros(known);
  return a.size() != b.size() ? a.size() > b.size() : a > b;
}

AGONES_ALLOC_DECL auto is_newer(game_server const& incoming, game_server const& known) noexcept -> bool {
  if (incoming.meta.uid != known.meta.uid) return true;
  return is_newer_version(incoming.meta.resource_version, known.meta.resource_version);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
