// The allocator service's REST form (spec 8.10): POST /gameserverallocation with the proto JSON of an AllocationRequest.
#pragma once

#include <agones_alloc/beast/allocation_backend.hpp>
#include <agones_alloc/beast/allocation_service.hpp>
#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <optional>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Answers any other path with 404 and any other method with 501, both with a gRPC error body.
///
/// Bad input: 400, code 3, and the field (500 with code 422 for what does not validate, when `compatible`).
/// Outcomes: allocated 200; exhausted: `http_unallocated_status_code`; contention 409, code 10; refused: the store's
/// HTTP code and the nearest gRPC code; unavailable 503; unknown and deadline 504; cancelled 499.
/// `dryRun=All` decides without handing out; a `Grpc-Timeout` field shortens the request's time, as at the gateway.
/// Other query parameters are ignored. Content-Type is not looked at.
///
/// Thread safety: confined to the listener's executor. Backend and timer must outlive it and its requests.
class rest_front_end final : public http_handler {
 public:
  AGONES_ALLOC_DECL rest_front_end(allocation_backend&, timer&, front_end_options);
  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

 private:
  allocation_service service_;
};

/// The namespace that the request allocates in, should it reach a front end with those options, "" for none; nullopt: it
/// allocates nothing. For an access_gate.
AGONES_ALLOC_DECL auto rest_namespace_of(http_request const&, front_end_options const&) -> std::optional<std::string>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/rest_front_end.ipp>
#endif
