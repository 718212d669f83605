// Events to an HTTP server, as the HTTP binding of CloudEvents has it.
#pragma once

#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/beast/webhook/webhook_signature.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/event_sink.hpp>
#include <agones_alloc/port/timer.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class webhook_mode : std::uint8_t {
  binary,      ///< attributes as fields, the data as body; an event each
  structured,  ///< the whole event as body; an event each
  batched,     ///< an array of whole events
};

struct webhook_options {
  std::string target{"/"};   ///< path and query
  std::string source{"/agones-alloc"};  ///< attribute `source` of every event
  webhook_mode mode{webhook_mode::structured};
};

/// What an answer to a delivery says.
///   2xx                  taken
///   413                  too large
///   408, 425, 429, 5xx   again, after Retry-After if there is one
///   any other            refused; redirections too: a receiver does not choose where events go
AGONES_ALLOC_DECL auto delivery_of(client_response const& answer) -> delivery_report;

/// One POST for each delivery. A time-out, a lost connection or a lost answer is `again`. In the modes with an event each, a
/// delivery is to hold one: event_delivery_options::batch = 1.
///
/// With a key, each POST is signed as Standard Webhooks has it, in the fields `webhook-id`, `webhook-timestamp` and
/// `webhook-signature`. The id is the event's, of a batch its first one's and the count of the rest. In binary mode the
/// signature covers id, time and data, not the other attributes.
///
/// Lifetimes: client and timer must outlive what is pending. Thread safety: as event_sink; set_key from any thread.
class webhook_sink final : public event_sink {
 public:
  /// Throws std::invalid_argument for a target that does not begin with '/' or an empty source.
  AGONES_ALLOC_DECL webhook_sink(http_client&, timer&, webhook_options);

  /// For deliveries from now on; empty: they are not signed.
  AGONES_ALLOC_DECL void set_key(webhook_key);

 private:
  AGONES_ALLOC_DECL void do_send(event_batch_ptr, time_point, handler) override;
  auto request_of(event_batch const&) const -> client_request;
  void sign(client_request&, event_batch const&) const;

  http_client& client_;
  timer& timer_;
  webhook_options options_;
  std::mutex mutable mutex_;
  webhook_key key_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/webhook/webhook_sink.ipp>
#endif
