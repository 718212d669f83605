// Which of two values of one object is newer?
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Resource versions compare as decimal numbers of any length. Where one of them is none, they are opaque
/// (the Kubernetes contract): then another version counts as newer.
AGONES_ALLOC_DECL auto is_newer_version(std::string_view incoming, std::string_view known) noexcept -> bool;

/// True when `incoming` is to replace `known`, a value under the same key: another UID is another server,
/// the same UID needs a newer resource version.
AGONES_ALLOC_DECL auto is_newer(game_server const& incoming, game_server const& known) noexcept -> bool;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/cache/freshness.ipp>
#endif
