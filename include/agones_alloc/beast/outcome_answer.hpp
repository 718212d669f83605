// What both front ends say about a failure, and the fields they add.
#pragma once

#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// The HTTP status of an outcome that is no allocation answer: refused (the store's code, 403 when it gave none),
/// unavailable 503, unknown and deadline 504, cancelled 499, invalid 422.
AGONES_ALLOC_DECL auto failure_status(allocation_result const&) noexcept -> int;

/// A sentence for people: the store's own words where it had any, the server's name where a write's fate is unknown.
AGONES_ALLOC_DECL auto failure_message(allocation_result const&) -> std::string;

/// Of an allocation that was to be answered while its server is pending (`Prefer: respond-async`): 202, with a Status that has
/// `id`, `namespace`, `gameServerName` and `deadline` besides, and where to ask for the end.
AGONES_ALLOC_DECL auto pending_answer(allocation_result const&) -> http_response;

/// True when the answer is pending_answer's: the server is not the caller's yet.
AGONES_ALLOC_DECL auto is_pending_answer(allocation_result const&) noexcept -> bool;

/// What the clusters that were asked said, unless the first of them allocated: attempts_text.
inline constexpr std::string_view attempts_field = "Agones-Alloc-Attempts";
/// Counter and list actions that were not applied, or not as a whole; the allocation stands (spec 7).
inline constexpr std::string_view action_errors_field = "Agones-Alloc-Action-Errors";

/// Adds `Agones-Alloc-Breakdown` to an exhausted answer, the two fields above where there is something to say, `Retry-After`
/// (whole seconds, at least 1) where a wait is advised.
AGONES_ALLOC_DECL void add_outcome_fields(http_response&, allocation_result const&);

/// Seconds for `Retry-After`; 0: none.
AGONES_ALLOC_DECL auto retry_seconds(allocation_result const&) noexcept -> long;

inline constexpr std::string_view no_policy_message = "no multi-cluster allocation policy is specified";

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/outcome_answer.ipp>
#endif
