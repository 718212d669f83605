// The merge patch that turns one game server into another (RFC 7386; Q42).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Body of a PATCH with content type `application/merge-patch+json`: only what differs in labels, annotations and
/// status, removed entries as `null`, and base's uid and resourceVersion, which make the write conditional. What this
/// library does not know is not in it and so survives. Arrays are replaced whole. A base without resourceVersion gives
/// an unconditional patch.
AGONES_ALLOC_DECL void append_merge_patch(std::string& out, game_server const& base, game_server const& desired);
AGONES_ALLOC_DECL auto merge_patch(game_server const& base, game_server const& desired) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/merge_patch.ipp>
#endif
