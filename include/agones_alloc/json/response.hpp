// From the outcome of an allocation to the answer on the wire (spec 7.3).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// status.state for an outcome: `Allocated`, `UnAllocated` for exhausted, `Contention`; "" for failures, which are no
/// allocation answer but an error.
AGONES_ALLOC_DECL auto state_word(outcome) noexcept -> std::string_view;

/// The request with the status of its outcome: server name, ports, addresses, node, source, the server's labels and
/// annotations, and with CountsAndLists its counters and lists. The status that came with the request is dropped (Q6).
AGONES_ALLOC_DECL auto allocation_response(game_server_allocation const& request, allocation_result const&,
                                           feature_gates = {}) -> game_server_allocation;

/// Its JSON, without the copy: what the HTTP front end answers.
AGONES_ALLOC_DECL void append_allocation_response(std::string& out, game_server_allocation const& request,
                                                  allocation_result const&, feature_gates = {});

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/response.ipp>
#endif
