// What an API server says when it does not do what was asked.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>

#include <boost/json/value.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A metav1.Status, as far as a client acts on it.
struct api_failure {
  struct cause {
    std::string reason;  ///< `FieldValueInvalid`
    std::string field;   ///< `metadata.uid`
    friend auto operator==(cause const&, cause const&) -> bool = default;
  };
  int code{0};          ///< the HTTP status
  std::string reason;   ///< Kubernetes' word; "" when the answer was no Status
  std::string message;
  std::string object;   ///< details.name: which object it is about
  std::chrono::seconds retry_after{0};  ///< details.retryAfterSeconds
  std::vector<cause> causes;            ///< at most 64

  friend auto operator==(api_failure const&, api_failure const&) -> bool = default;
};

/// A Status document. `code` is 0 where it has none.
AGONES_ALLOC_DECL auto read_api_failure(boost::json::value const&) -> decoded<api_failure>;

/// The body of an answer with that HTTP status: a Status, or any text, of which the first 512 bytes become the
/// message. Never fails; bodies over 1 MiB are not parsed.
AGONES_ALLOC_DECL auto api_failure_of(int http_status, std::string_view body) -> api_failure;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/api_failure.ipp>
#endif
