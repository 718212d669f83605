// gRPC status codes, their HTTP statuses and the gateway's error body (spec 8.9, 8.10).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class grpc_code : int {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

/// `ResourceExhausted`; `Code(422)` for a number that is none of these.
AGONES_ALLOC_DECL auto to_string(grpc_code) -> std::string;

/// The gateway's HTTP status: 8 is 429, 10 is 409; 500 for unknown numbers.
AGONES_ALLOC_DECL auto http_status_of(grpc_code) noexcept -> int;

/// The code for `http-unallocated-status-code`: 429 is ResourceExhausted, 200 is OK; `known` tells if the status is in
/// the table (others: ResourceExhausted, and the reference logs a warning).
struct unallocated_code {
  grpc_code code{grpc_code::resource_exhausted};
  bool known{true};
};
AGONES_ALLOC_DECL auto unallocated_code_for(int http_status) noexcept -> unallocated_code;

/// A failed call: code and message.
struct grpc_status {
  grpc_code code{grpc_code::ok};
  std::string message;
  friend auto operator==(grpc_status const&, grpc_status const&) -> bool = default;
};

/// What a GameServerAllocation's status.state means to a gRPC or REST caller: OK for Allocated, `unallocated` for
/// UnAllocated (an empty response when that is OK), Aborted for Contention, Unknown `unknown issue` for other words.
AGONES_ALLOC_DECL auto grpc_status_of_state(std::string_view state,
                                            grpc_code unallocated = grpc_code::resource_exhausted) -> grpc_status;

/// `{"code":8,"message":"...","details":[]}`.
AGONES_ALLOC_DECL auto grpc_error_body(grpc_status const&) -> std::string;

/// Reads such a body; a missing code is Unknown.
AGONES_ALLOC_DECL auto read_grpc_error(boost::json::value const&) -> decoded<grpc_status>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/grpc_code.ipp>
#endif
