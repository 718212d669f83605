#pragma once

#include <agones_alloc/model/game_server.hpp>

#include <array>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
inline constexpr std::array<std::pair<game_server_state, std::string_view>, 13> game_server_state_words{{
    {game_server_state::unset, ""},
    {game_server_state::port_allocation, "PortAllocation"},
    {game_server_state::creating, "Creating"},
    {game_server_state::starting, "Starting"},
    {game_server_state::scheduled, "Scheduled"},
    {game_server_state::request_ready, "RequestReady"},
    {game_server_state::ready, "Ready"},
    {game_server_state::allocated, "Allocated"},
    {game_server_state::reserved, "Reserved"},
    {game_server_state::shutdown, "Shutdown"},
    {game_server_state::error, "Error"},
    {game_server_state::unhealthy, "Unhealthy"},
    {game_server_state::allocating, "Allocating"},
}};
}  // namespace detail

AGONES_ALLOC_DECL auto to_string(game_server_state state) noexcept -> std::string_view {
  for (auto const& [value, word] : detail::game_server_state_words) {
    if (value == state) return word;
  }
  return "Unknown";
}

AGONES_ALLOC_DECL auto game_server_state_from(std::string_view text) noexcept -> game_server_state {
  for (auto const& [value, word] : detail::game_server_state_words) {
    if (word == text) return value;
  }
  return game_server_state::other;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
