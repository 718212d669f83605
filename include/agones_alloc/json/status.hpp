// metav1.Status: how Kubernetes reports a failure (spec 2.3).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/model/field_error.hpp>

#include <boost/json/value.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// `GameServerAllocation.allocation.agones.dev "<name>" is invalid: <list>`.
AGONES_ALLOC_DECL auto invalid_message(std::string_view name, field_errors const&) -> std::string;

/// The 422 Status of a request that did not validate: one cause per error, duplicates kept. `name` is the request's
/// metadata.name, "" when it has none.
AGONES_ALLOC_DECL auto invalid_status(std::string_view name, field_errors const&) -> std::string;

/// A failure without causes.
struct api_status {
  int code{500};       ///< the HTTP status
  std::string reason{};  ///< Kubernetes' word (`Conflict`, `ServiceUnavailable`, ...); "": the word for `code`
  std::string message{};
  std::chrono::seconds retry_after{0};  ///< details.retryAfterSeconds, left out when 0

  friend auto operator==(api_status const&, api_status const&) -> bool = default;
};

/// The Status document of a failure.
AGONES_ALLOC_DECL auto to_json_status(api_status const&) -> std::string;

/// Kubernetes' reason for an HTTP status: 404 `NotFound`; "" where it has none.
AGONES_ALLOC_DECL auto reason_for(int http_status) noexcept -> std::string_view;

/// Reads the Status an API server answers with. Unknown fields are ignored; `code` 0 when absent.
AGONES_ALLOC_DECL auto read_status(boost::json::value const&) -> decoded<api_status>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/status.ipp>
#endif
