// Fleet from JSON (spec 1.5).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/read_options.hpp>
#include <agones_alloc/model/fleet.hpp>

#include <boost/json/value.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// The template is read as by `read_game_server_template`. Strict: scheduling, priority type and order must be known
/// words.
AGONES_ALLOC_DECL auto read_fleet(boost::json::value const&, json_read_options const& = {}) -> decoded<fleet>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/read_fleet.ipp>
#endif
