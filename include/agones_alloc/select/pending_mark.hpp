// By what a pending server is known: claimed for somebody, and not handed over yet.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace keys {
/// All of the marker, for allocators; while it is there the server is pending.
inline constexpr std::string_view pending_annotation = "agones-alloc.dev/pending";
/// `true` on a server that is Allocated and still pending (carrier `Allocated`).
inline constexpr std::string_view allocating_label = "agones-alloc.dev/allocating";
}  // namespace keys

/// Cheap: true when find_pending may have something.
inline auto has_pending(game_server const& server) noexcept -> bool {
  return server.meta.annotations.find(keys::pending_annotation).has_value();
}

/// As the server's state counts: Allocating while it is pending, however its definition makes that be written.
inline auto counted_state(game_server const& server) noexcept -> game_server_state {
  auto const state = server.status.state;
  bool const pending = (state == game_server_state::reserved && has_pending(server)) ||
                       (state == game_server_state::allocated && server.meta.labels.find(keys::allocating_label));
  return pending ? game_server_state::allocating : state;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
