// Messages of the information service, to and from values (spec 12.1).
#pragma once

#include <agones_alloc/beast/fleets/fleet_query.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/fleet_info.hpp>

#include <optional>
#include <string>
#include <variant>

// Generated from proto/.
namespace information {
class ClusterStatus;
class FleetInformation;
class InformRequest;
}  // namespace information

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Numbers at the top are the Fleet's own status, and 0 where that is not known; `recount` is what was counted from its servers.
AGONES_ALLOC_DECL void fleet_to_message(fleet_info const&, fleet_info_parts, ::information::FleetInformation& out);
AGONES_ALLOC_DECL void cluster_to_message(cluster_info const&, ::information::ClusterStatus& out);

/// Of another cluster's server, which may be newer or wrong: nullopt where there is no name. Its cluster is as it calls itself. The
/// Fleet's own status counts as known where its uid is. Recounted states that are not known share one.
AGONES_ALLOC_DECL auto message_to_fleet(::information::FleetInformation const&) -> std::optional<fleet_info>;

/// What is asked for, its filter filled in; rights are not looked at. Or a sentence with the field that is wrong.
AGONES_ALLOC_DECL auto query_of_message(::information::InformRequest const&) -> std::variant<fleet_query, std::string>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/grpc/information_fleets.ipp>
#include <agones_alloc/impl/grpc/information_messages.ipp>
#endif
