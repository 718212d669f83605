// What an allocation writes to a server (spec 7).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/model/shared_copy.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Action errors, the reference's texts, in order of name; they never fail an allocation.
struct action_report {
  shared_copy<std::vector<std::string>> counter_errors;
  shared_copy<std::vector<std::string>> list_errors;
};

/// Changes `server` (a copy of the claimed one): labels, annotations, last-allocated, state Allocated,
/// counter actions, list actions. Saturating (Q15). A list value lost to truncation is reported in
/// list_errors only when it was to be added by this request (Q16).
AGONES_ALLOC_DECL auto apply_allocation(game_server& server, allocation_spec const&, feature_gates,
                                        std::chrono::sys_time<std::chrono::nanoseconds> now) -> action_report;

/// RFC 3339 in UTC, up to nine fraction digits, trailing zeros trimmed: last-allocated's format (spec 7, step 3).
AGONES_ALLOC_DECL auto rfc3339_nano(std::chrono::sys_time<std::chrono::nanoseconds>) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/select/apply.ipp>
#endif
