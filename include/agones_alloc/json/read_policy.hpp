// GameServerAllocationPolicy from JSON (spec 1.6).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/read_options.hpp>
#include <agones_alloc/model/policy.hpp>

#include <boost/json/value.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// apiVersion multicluster.agones.dev/v1, or v1alpha1 as the 2019 controller has it. `serverCa` is decoded.
AGONES_ALLOC_DECL auto read_game_server_allocation_policy(boost::json::value const&, json_read_options const& = {})
    -> decoded<game_server_allocation_policy>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/read_policy.ipp>
#endif
