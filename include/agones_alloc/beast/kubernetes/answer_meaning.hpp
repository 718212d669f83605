// What an API server's failure means for the request that met it.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/json/api_failure.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// An answer to a write of one object that carried its uid and resource version; any status but 200.
///
///   409, 410, 412               errc::conflict: another version; the object is to be read
///   404 about the object        errc::not_found. Without its name (the API is not served, or not yet): unavailable
///   422 about metadata.uid      errc::not_found: another object of that name
///   429                         errc::too_many_requests: refused before it was executed
///   503 with a Retry-After      errc::unavailable: likewise. Without: a proxy may have lost an answer
///   401                         errc::unavailable: credentials are renewed, nothing was executed
///   any other 3xx or 4xx        errc::refused: nothing was written, and the same request will not do better
///   denied by a webhook         the code is the webhook's choice, and nothing was written: 429 errc::too_many_requests,
///                               5xx errc::unavailable, any other (404, 409 and 410, too) errc::refused
///   a webhook that fails        errc::unavailable: 500 before anything was written
///   all else, 5xx above all     errc::outcome_unknown: 500 and 504 come before and after the effect
AGONES_ALLOC_DECL auto judge_write_answer(api_failure const&, bool has_retry_after) noexcept -> error_code;

/// An answer to a read of one object, a list or a watch; any status but 200. 404 as above, 410 is errc::too_old, 401
/// and 5xx are errc::unavailable, 429 errc::too_many_requests, all else errc::refused.
AGONES_ALLOC_DECL auto judge_read_answer(api_failure const&) noexcept -> error_code;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/kubernetes/answer_meaning.ipp>
#endif
