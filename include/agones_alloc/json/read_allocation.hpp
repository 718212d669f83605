// GameServerAllocation from JSON (spec 1.3).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/read_options.hpp>
#include <agones_alloc/model/allocation.hpp>

#include <boost/json/value.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A top-level `null` is the zero value, as in the reference; anything but an object is an error.
/// The status is read too (answers of other servers); a front end drops it (Q6). Strict: scheduling,
/// gameServerState, priority type and order, counter action must be known words.
AGONES_ALLOC_DECL auto read_game_server_allocation(boost::json::value const&, json_read_options const& = {})
    -> decoded<game_server_allocation>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/read_allocation.ipp>
#endif
