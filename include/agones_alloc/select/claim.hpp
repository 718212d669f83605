// Claims: what an allocation leaves on its server, so that any replica knows it by its id, and can undo it.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/select/request.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace keys {
/// One annotation per claim: this, and the hash of the id.
inline constexpr std::string_view claim_prefix = "agones-alloc.dev/claim.";
/// The first expiry among a server's claims, for people and for tools.
inline constexpr std::string_view claim_expires_annotation = "agones-alloc.dev/claim-expires";
/// Of a GameServerAllocation: the request's id.
inline constexpr std::string_view request_id_annotation = "agones-alloc.dev/request-id";
/// A game server confirms its claims by SetAnnotation or SetLabel of `claim-confirmed`: "true" for all, or one id.
inline constexpr std::string_view sdk_confirmed = "agones.dev/sdk-claim-confirmed";
}  // namespace keys

using wall_time = std::chrono::sys_time<std::chrono::nanoseconds>;

/// What the caller wants of the claim that its allocation makes.
struct claim_terms {
  shared_string id;                   ///< 1 to 256 visible characters of ASCII
  std::uint64_t digest{0};            ///< of the request: the same id must come with the same one
  std::optional<wall_time> expires;   ///< unless it is confirmed before; nullopt: it counts as confirmed
  /// False: labels and annotations are as they were, but for the stamp, and no label confirms claims. Then they are not compared.
  bool patches{true};
};

/// One claim of a server, as its annotation says.
struct claim_record {
  std::string id;
  std::uint64_t digest{0};
  wall_time made{};
  std::optional<wall_time> expires;  ///< nullopt: confirmed
  friend auto operator==(claim_record const&, claim_record const&) -> bool = default;
};

/// Where a released server goes.
enum class release_to : std::uint8_t {
  ready,     ///< to be allocated again; only right where a game can be started anew
  shutdown,  ///< to be replaced
};

/// What a release could not undo; never fails it.
using release_report = std::vector<std::string>;

/// What is wrong with an id; "" when nothing is.
AGONES_ALLOC_DECL auto request_id_problem(std::string_view id) -> std::string;

/// Of all that decides about an allocation; the same in every process.
AGONES_ALLOC_DECL auto request_digest(allocation_request const&) noexcept -> std::uint64_t;

/// Adds the claim to `desired`, which apply_allocation made of `base`, with what it takes to undo the difference. An id that the
/// server has already is overwritten. Of confirmed claims those made before `forget_before` go, and the oldest beyond 256.
/// True: there was none before, so this is the only one.
AGONES_ALLOC_DECL auto write_claim(game_server& desired, game_server const& base, claim_terms const&, wall_time now,
                                   wall_time forget_before) -> bool;

/// The claim of that id; nullopt when the server has none, or one that cannot be read.
AGONES_ALLOC_DECL auto find_claim(game_server const&, std::string_view id) -> std::optional<claim_record>;
/// All claims that can be read, in no order. What the game has confirmed counts as confirmed.
AGONES_ALLOC_DECL auto claims_of(game_server const&) -> std::vector<claim_record>;
/// The annotation that the claim of that id stands in.
AGONES_ALLOC_DECL auto claim_annotation(std::string_view id) -> std::string;
/// Cheap: true when claims_of may have something.
AGONES_ALLOC_DECL auto has_claims(game_server const&) noexcept -> bool;

/// The claim does not expire any more, and cannot be undone by expiry; its id stays known. False when there is none.
AGONES_ALLOC_DECL auto confirm_claim(game_server&, std::string_view id) -> bool;

/// The claim has to be confirmed until then, also if it was not to be before. False when there is none.
AGONES_ALLOC_DECL auto expire_claim_at(game_server&, std::string_view id, wall_time when) -> bool;

/// Ends the claim: takes back what its allocation put on the server where nobody has changed it since: labels, annotations,
/// counts, list values. When it was the last claim of a server that was Ready before its first one, the server
/// goes to `to`; else it stays as it is. Nullopt when there is no such claim.
AGONES_ALLOC_DECL auto release_claim(game_server&, std::string_view id, release_to to) -> std::optional<release_report>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/select/claim.ipp>
#include <agones_alloc/impl/select/request_digest.ipp>
#endif
