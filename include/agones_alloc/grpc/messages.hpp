// Messages of the gRPC allocation service, to and from values (spec 8.7, 8.8). The same values as the REST form gives.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <optional>
#include <string_view>

// Generated from proto/; the messages' own headers are not needed to name them.
namespace allocation {
class AllocationRequest;
class AllocationResponse;
}  // namespace allocation

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// AllocationRequest to GameServerAllocation (8.8 a), before defaults. Cannot fail: unknown enum numbers are Packed, no state,
/// Counter and Ascending. With CountsAndLists off counters, lists and priorities are dropped; players need
/// PlayerAllocationFilter; their uint64 becomes int64 bit by bit.
AGONES_ALLOC_DECL auto message_to_allocation(::allocation::AllocationRequest const&, feature_gates = {}) -> game_server_allocation;

/// Where a forwarded request goes.
struct message_forward_options {
  std::string_view namespace_{};      ///< replaces the request's namespace unless ""
  bool disable_multi_cluster{false};  ///< clear multiClusterSetting.enabled, as a forwarder must (spec 8.4)
  bool match_expressions{false};      ///< the remote knows GameServerSelector.matchExpressions: as `rest_forward_options`
};

/// GameServerAllocation to AllocationRequest (8.8 b). `gsa` is defaulted and converted: its `selectors` are all there is. What
/// cannot be said is an error, fault `unsupported`, with its path: matchExpressions but for `In` with one value (Q10), to a
/// remote that does not know them.
AGONES_ALLOC_DECL auto allocation_to_message(game_server_allocation const& gsa, ::allocation::AllocationRequest& out,
                                             feature_gates = {}, message_forward_options const& = {})
    -> std::optional<decode_error>;

/// AllocationResponse of an allocated `gsa` (8.8 c); the empty response for any other state.
AGONES_ALLOC_DECL void allocation_to_message(game_server_allocation const& gsa, ::allocation::AllocationResponse& out,
                                             feature_gates = {});

/// The same from a result, in bytes, without a GameServerAllocation and an AllocationResponse in between; "" where there is no server.
AGONES_ALLOC_DECL auto result_to_message(allocation_result const&, feature_gates = {}) -> std::string;

/// AllocationResponse to an Allocated GameServerAllocation. `source` is the endpoint that answered; what the remote reported is
/// dropped (spec 8.4). Metadata has no name, spec is empty.
AGONES_ALLOC_DECL auto message_to_allocation(::allocation::AllocationResponse const&, std::string_view source,
                                             feature_gates = {}) -> game_server_allocation;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/grpc/messages_request.ipp>
#include <agones_alloc/impl/grpc/messages_response.ipp>
#endif
