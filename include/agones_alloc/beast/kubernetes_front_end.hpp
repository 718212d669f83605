// The aggregated API of allocation.agones.dev/v1 (spec 9), as kubectl and the API server's aggregator speak it.
#pragma once

#include <agones_alloc/beast/allocation_backend.hpp>
#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/beast/media_type.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Paths: `/`, `/apis`, `/openapi/v2`, `/openapi/v3` and the document that it names, `/apis/allocation.agones.dev/v1` and
/// `.../namespaces/<ns>/gameserverallocations`; 404 for anything else.
///
/// An allocation is negotiated before it is decided (Q20); another kind in the body is refused (Q21); the status
/// in the body is ignored (Q6); the answer's apiVersion is always the full one (Q1).
/// Query parameters: `dryRun=All` decides without handing out (Q19), `fieldValidation=Strict|Warn|Ignore`,
/// `timeout=5s` shortens the request's time.
///
/// Outcomes: allocated, exhausted, contention 201; invalid 422; refused: the store's code; unavailable 503;
/// unknown 504; deadline 504; cancelled 499. Failures are Status documents. Exhausted answers carry
/// `Agones-Alloc-Breakdown`; contention and unavailable ones `Retry-After` when a wait is advised.
///
/// Thread safety: confined to the listener's executor. Backend and timer must outlive it and its requests.
class kubernetes_front_end final : public http_handler {
 public:
  AGONES_ALLOC_DECL kubernetes_front_end(allocation_backend&, timer&, front_end_options);
  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

 private:
  AGONES_ALLOC_DECL void allocate(http_request const&, std::string_view namespace_, reply);

  allocation_backend* backend_;
  timer* time_;
  front_end_options options_;
};

/// The namespace that the request allocates in, should it reach the front end; nullopt: it allocates nothing. For an
/// access_gate.
AGONES_ALLOC_DECL auto kubernetes_namespace_of(http_request const&) -> std::optional<std::string>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/kubernetes_front_end.ipp>
#endif
