// What the end of a gRPC call to an allocator in another cluster says (spec 8.8, 8.9).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/port/remote_allocator.hpp>

#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// How a call of AllocationService.Allocate ended.
struct grpc_answer {
  int code{0};              ///< gRPC's, also one out of range: 422 is Agones' for what does not validate
  std::string message;
  std::string details;      ///< google.rpc.Status in bytes; "": none
  std::string body;         ///< the message in bytes
  bool answered{true};      ///< there was a message: OK without one is no answer
  std::string retry_after;  ///< trailing metadata: seconds; "": none
};

/// A call that was begun on a connection; its end says more than the connection's does.
///
/// OK: allocated; exhausted when the message is empty; unknown when it is no AllocationResponse with a name. Any code with
/// Agones' words for "nothing available", or whose HTTP status is among `exhausted_codes`: exhausted. Aborted: contention.
/// InvalidArgument, OutOfRange and 422: invalid. Unauthenticated and PermissionDenied: refused. NotFound and Unimplemented: not
/// executed; FailedPrecondition: neither by the cluster's other endpoints. Unavailable: not executed only when the remote says so (a
/// time to come again, or an AllocationFailure with that outcome) or gRPC says that it never had a connection, or that
/// its stream was refused: a lost one has the same code. All else, and an answer over the bound: unknown.
AGONES_ALLOC_DECL auto judge_grpc_answer(grpc_answer const&, remote_call const&, std::vector<int> const& exhausted_codes)
    -> remote_result;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/grpc/grpc_answer.ipp>
#endif
