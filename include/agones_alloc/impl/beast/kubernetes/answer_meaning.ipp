#pragma once

#include <agones_alloc/beast/kubernetes/answer_meaning.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// "404 page not found" says that the API is missing, not the object.
inline auto names_missing_object(api_failure const& answer) noexcept -> bool {
  return answer.reason == "NotFound" && !answer.object.empty();
}

/// Admission comes before the object is stored, so its answers are definite whatever their code. These are the API server's own
/// words for them; only it writes the beginning of a message, the webhook's follow. Whom it does not know by them is told by the code.
inline auto denied_by_webhook(api_failure const& answer) noexcept -> bool {
  return answer.message.rfind("admission webhook \"", 0) == 0 && answer.message.find("\" denied the request") != std::string::npos;
}
inline auto webhook_failed(api_failure const& answer) noexcept -> bool {
  return answer.code == 500 && answer.message.rfind("Internal error occurred: failed calling webhook \"", 0) == 0;
}

}  // namespace detail

AGONES_ALLOC_DECL auto judge_write_answer(api_failure const& answer, bool has_retry_after) noexcept -> error_code {
  if (detail::webhook_failed(answer)) return errc::unavailable;
  if (detail::denied_by_webhook(answer)) {
    if (answer.code == 429) return errc::too_many_requests;
    return answer.code >= 500 ? errc::unavailable : errc::refused;
  }
  switch (answer.code) {
    case 401: return errc::unavailable;
    case 404: return detail::names_missing_object(answer) ? errc::not_found : errc::unavailable;
    case 408: return errc::outcome_unknown;
    case 409:
    case 410:
    case 412: return errc::conflict;
    case 422: {
      auto const another = std::any_of(answer.causes.begin(), answer.causes.end(),
                                       [](auto const& cause) { return cause.field == "metadata.uid"; });
      return another ? errc::not_found : errc::refused;
    }
    case 429: return errc::too_many_requests;
    case 503: return has_retry_after ? errc::unavailable : errc::outcome_unknown;
    default: break;
  }
  return answer.code >= 300 && answer.code < 500 ? errc::refused : errc::outcome_unknown;
}

AGONES_ALLOC_DECL auto judge_read_answer(api_failure const& answer) noexcept -> error_code {
  switch (answer.code) {
    case 401:
    case 408: return errc::unavailable;
    case 404: return detail::names_missing_object(answer) ? errc::not_found : errc::unavailable;
    case 410: return errc::too_old;
    case 429: return errc::too_many_requests;
    default: break;
  }
  return answer.code >= 500 ? errc::unavailable : errc::refused;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
