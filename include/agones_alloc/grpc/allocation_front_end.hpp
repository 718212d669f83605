// The allocator service's gRPC form (spec 8.7 to 8.9): `allocation.AllocationService/Allocate`.
#pragma once

#include <agones_alloc/beast/allocation_service.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Fields of an answer to a call, which a grpc_listener makes into the call's status; all others become trailing metadata.
inline constexpr std::string_view grpc_status_field = "grpc-status";
inline constexpr std::string_view grpc_message_field = "grpc-message";
inline constexpr std::string_view grpc_details_field = "grpc-status-details-bin";  ///< google.rpc.Status, not encoded

/// Stands behind a grpc_listener, which makes calls into requests: the body is the message, the fields are the metadata, with
/// the names of the REST door's fields (`idempotency-key`, `prefer: wait=5`, `agones-alloc-claim-ttl`, ...). The answer is the
/// message, or a status, by the one table of codes; what does not validate is InvalidArgument, and 422 when `compatible`.
/// Failures carry details: each field that is wrong, when to come again, the breakdown, the attempts.
///
/// Thread safety: confined to the listener's executor. Backend and timer must outlive it and its requests.
class allocation_front_end final : public http_handler {
 public:
  static constexpr std::string_view path = "/allocation.AllocationService/Allocate";

  AGONES_ALLOC_DECL allocation_front_end(allocation_backend&, timer&, front_end_options);
  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

 private:
  allocation_service service_;
};

/// The namespace that a call allocates in, "" for none; nullopt: it allocates nothing. For an access_gate.
AGONES_ALLOC_DECL auto allocation_namespace_of(http_request const&, front_end_options const&) -> std::optional<std::string>;

/// An answer that is a status.
AGONES_ALLOC_DECL auto grpc_failure(grpc_code, std::string message) -> http_response;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/grpc/allocation_front_end.ipp>
#endif
