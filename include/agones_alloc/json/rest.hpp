// proto-JSON of the allocation service, to and from GameServerAllocation (spec 8.7, 8.8, 8.10).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/read_options.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/feature_gates.hpp>

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// AllocationRequest to GameServerAllocation (8.8 a), before defaults. Parse the body with `allow_trailing` and
/// `empty_is_object`.
///
/// 64-bit integers are numbers or strings, whole floats (`100.0`) included; enums are names or numbers. `null` is "not
/// set" for a field and an error as an element. Unknown fields and unknown enum names are ignored; strict refuses the
/// names. An operator of matchExpressions that is not known is kept, and does not validate. With CountsAndLists off counters, lists and priorities are checked and dropped; players need
/// PlayerAllocationFilter; their uint64 becomes int64 bit by bit. Field paths are those of the request.
AGONES_ALLOC_DECL auto rest_request_to_allocation(boost::json::value const&, feature_gates = {},
                                                  json_read_options const& = {}) -> decoded<game_server_allocation>;

/// Where a forwarded request goes.
struct rest_forward_options {
  std::string_view namespace_{};      ///< replaces the request's namespace unless ""
  bool disable_multi_cluster{false};  ///< clear multiClusterSetting.enabled, as a forwarder must (spec 8.4)
  /// The remote knows `GameServerSelector.matchExpressions`: these servers, and Agones since 1.61. Older ones overlook it.
  bool match_expressions{false};
};

/// GameServerAllocation to AllocationRequest (8.8 b). `gsa` is defaulted and converted: its `selectors` are all there
/// is. An `In` with one value becomes a matchLabels entry. Other matchExpressions are written for a remote that knows them;
/// else, and of `policySelector`, they are fault `unsupported` with their path: the remote would match a superset (Q10).
AGONES_ALLOC_DECL auto allocation_to_rest_request(game_server_allocation const& gsa, feature_gates = {},
                                                  rest_forward_options const& = {}) -> decoded<std::string>;

/// AllocationResponse of an allocated `gsa` (8.8 c); the empty response for any other state. Every field is written,
/// 64-bit integers as strings; `metadata` is left out when absent.
AGONES_ALLOC_DECL void append_rest_response(std::string& out, game_server_allocation const& gsa, feature_gates = {});
AGONES_ALLOC_DECL auto allocation_to_rest_response(game_server_allocation const& gsa, feature_gates = {})
    -> std::string;

/// AllocationResponse to an Allocated GameServerAllocation. `source` is the endpoint that answered; what the remote
/// reported is dropped (spec 8.4). Metadata has no name, spec is empty.
AGONES_ALLOC_DECL auto rest_response_to_allocation(boost::json::value const&, std::string_view source,
                                                   feature_gates = {}, json_read_options const& = {})
    -> decoded<game_server_allocation>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/rest_forward.ipp>
#include <agones_alloc/impl/json/rest_request.ipp>
#include <agones_alloc/impl/json/rest_response.ipp>
#endif
