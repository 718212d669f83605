// Rows of the fleet directory as JSON, to and from (spec 12.1; docs/fleets.md shows them).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/read_options.hpp>
#include <agones_alloc/model/fleet_info.hpp>

#include <boost/json/value.hpp>

#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What is told on demand, because it may be long.
struct fleet_info_parts {
  bool nodes{false};        ///< `recount.nodes`; the number of nodes is always told
  bool annotations{false};
  friend auto operator==(fleet_info_parts, fleet_info_parts) -> bool = default;
};

/// Names as in the request for this API. At the top `totalGameservers` and so on are the Fleet's own status, and are
/// missing where that is not known; `recount` has what was counted from its servers.
AGONES_ALLOC_DECL void append_json(std::string& out, fleet_info const&, fleet_info_parts = {});
/// `{"clusterName","namespace","fleetName"}`, of a fleet that is gone.
AGONES_ALLOC_DECL void append_key_json(std::string& out, fleet_info const&);
AGONES_ALLOC_DECL void append_json(std::string& out, cluster_info const&);

/// Unknown fields are skipped, so that a newer remote can be heard. `fleetName` is needed; it has no cluster of ours yet.
AGONES_ALLOC_DECL auto read_fleet_info(boost::json::value const&, json_read_options const& = {}) -> decoded<fleet_info>;

/// RFC 3339 in UTC with milliseconds.
AGONES_ALLOC_DECL auto format_wall_time(fleet_info::wall_time) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/read_fleet_info.ipp>
#include <agones_alloc/impl/json/write_fleet_info.ipp>
#endif
