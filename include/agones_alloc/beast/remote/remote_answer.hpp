// What the answer of a REST allocator in another cluster says (spec 8.9, 8.10).
#pragma once

#include <agones_alloc/beast/client/client_message.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/remote_allocator.hpp>

#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A whole answer, whatever its status. Each status that Agones can be told to give for "nothing available" is known
/// by the words that go with it (Q25); `exhausted_codes` are statuses that say it without them.
///
/// 200: allocated; exhausted when it names no server; unknown when it is no AllocationResponse. 409 with code 10:
/// contention. 400, 413, 422, and 500 with code 422: invalid. 401 and 403: refused. 404, 405, 429, 501, 508, and 503 with
/// code 14 or a Retry-After: not executed. All else (408, 499, other 5xx, redirections): unknown.
AGONES_ALLOC_DECL auto judge_remote_answer(client_response const&, remote_call const&,
                                           std::vector<int> const& exhausted_codes) -> remote_result;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/remote_answer.ipp>
#endif
