// `/v1/claims`: claims that are to be looked at, confirmed or released by their id.
#pragma once

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/readiness_gate.hpp>
#include <agones_alloc/beast/fleets/fleets_options.hpp>
#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
struct claim_query;
class stream_places;
}

/// GET `/v1/claims/ID`, POST `/v1/claims/ID:confirm`, POST `/v1/claims/ID:release`. Query: `namespace` (else
/// front_end_options::default_namespace), and for a release `to=ready` (the default) or `to=shutdown`.
///
/// Of a pending allocation (see readiness_gate) GET says `"pending":true` and its `deadline`; with `Prefer: wait=SECONDS` it answers when
/// the wait is over. One that was not ready is told, as long as it is remembered, by `"ended"` (timed_out, failed, abandoned, gone).
/// With `Accept: text/event-stream` GET is a stream: the state as event `PENDING`, `ALLOCATED` or `ENDED`, each with what GET says for its
/// data; after `PENDING` one of the others when the wait is over, and `HEARTBEAT` meanwhile. Then the stream ends. Too many: 503.
/// A confirmation waits until the server is ready, with `Prefer: wait=SECONDS` so long, else front_end_options::request_time; pending
/// still it is 409 with `Retry-After`, and what GET says besides. A release ends the wait.
///
/// GET with `:confirm` or `:release`, and POST without, are 405: in an id that ends so the colon is encoded, as %3A. A parameter that is not
/// known or given twice is 400, and its name begins the message.
///
/// 200 with `{"id","namespace","gameServerName","state","confirmed","expires","notUndone"}` (the last two where there is something
/// to say); 404 where there is no such claim, also the second time a claim is released. Failures as JSON with `code` and
/// `message`: 400, 403, 405, 409 (contention), 499, 503 (also before the servers have been listed), 504 (deadline, or a write
/// whose fate is not known), or the store's own.
///
/// Allocator and timer must outlive it and its requests. Thread safety: as the listener's.
class claims_front_end final : public http_handler {
 public:
  static constexpr std::string_view prefix = "/v1/claims/";

  /// `gate`: of the allocator; null: it has none. Throws std::invalid_argument for bounds of streams that are out of range.
  AGONES_ALLOC_DECL claims_front_end(allocator&, timer&, front_end_options, readiness_gate* gate = nullptr, fleets_options streams = {});

  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

 private:
  void stream(http_request const&, detail::claim_query, reply);

  allocator* allocates_;
  timer* time_;
  front_end_options options_;
  readiness_gate* gate_;
  fleets_options streams_;
  std::shared_ptr<detail::stream_places> places_;
};

/// The namespace of a request to it, by query or options; "" when neither says.
AGONES_ALLOC_DECL auto claims_namespace_of(http_request const&, front_end_options const&) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/claims_front_end.ipp>
#endif
