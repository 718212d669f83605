// Pending servers: claimed for somebody, and not handed over yet. What is written on them, and what it says.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/gate_settings.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/select/claim.hpp>
#include <agones_alloc/select/pending_mark.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace keys {
/// For the game: the id of the allocation that it is to get ready for, to set as the value of its answer.
inline constexpr std::string_view pending_id_annotation = "agones-alloc.dev/pending-id";
/// For the game, with the source `webhook`: the token of its one call.
inline constexpr std::string_view gate_token_annotation = "agones-alloc.dev/gate-token";
}  // namespace keys

/// What a replica must know to carry a pending server on.
struct pending_marker {
  std::string id;          ///< of the allocation, and of its claim
  wall_time since{};       ///< the write that made it pending
  wall_time deadline{};    ///< then the policy is applied, by whoever is there
  std::string owner;       ///< the replica that acts first
  std::string token;       ///< source webhook
  std::optional<std::chrono::nanoseconds> claim_ttl;  ///< from Allocated on
  gate_settings gate;
  std::vector<std::string> older;  ///< ids of claims that the server had before, of earlier sessions
  friend auto operator==(pending_marker const&, pending_marker const&) -> bool = default;
};

/// So long after the deadline Agones' sidecar may return the server to Ready, should no allocator be there any more.
inline constexpr std::chrono::seconds sidecar_patience{5};

/// Makes an allocated server (apply_allocation, write_claim) a pending one: state, reservedUntil, marker. What the game
/// answered in an earlier session is taken away.
AGONES_ALLOC_DECL void begin_pending(game_server& desired, pending_marker const&);

/// The marker; nullopt when there is none, or one that cannot be read.
AGONES_ALLOC_DECL auto find_pending(game_server const&) -> std::optional<pending_marker>;

/// What a server says about its being pending.
enum class pending_reading : std::uint8_t {
  pending,
  ready,      ///< the game says that players can join
  failed,     ///< the game says that they never will
  allocated,  ///< the game itself has made it Allocated (SDK Allocate): as good as ready
  returned,   ///< it is Ready again, with the marker: the sidecar's doing
  over,       ///< no longer pending: finished or ended by another replica, dying, or dead
};

/// Of a server that had `marker`, as it is now. The sources that ask, and webhook, say nothing here.
AGONES_ALLOC_DECL auto read_pending(game_server const& now, pending_marker const& marker) noexcept -> pending_reading;

/// The check passed: Allocated, without reservedUntil and marker; last-allocated is `now`, and the claim's time to live begins.
AGONES_ALLOC_DECL void pass_pending(game_server&, pending_marker const&, wall_time now);

/// The check did not pass: Ready with what was applied taken back, Shutdown, or Unhealthy; without reservedUntil and
/// marker. What could not be taken back.
AGONES_ALLOC_DECL auto fail_pending(game_server&, pending_marker const&, gate_policy) -> release_report;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/pending.ipp>
#endif
