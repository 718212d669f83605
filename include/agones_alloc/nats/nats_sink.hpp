// Events to NATS JetStream. A library of its own, agones_alloc_nats: nobody else links the NATS client.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/port/event_sink.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct nats_options {
  std::string url{"nats://127.0.0.1:4222"};  ///< without user or password
  std::string subject{"agones"};             ///< goes before the rest of every subject
  std::string source{"/agones-alloc"};       ///< attribute `source` of every event
  std::string client_name{"agones_alloc"};   ///< as the server lists it
  std::string token;                         ///< "": none
  std::string credentials_file;              ///< a .creds file, "": none
  bool tls{false};
  std::string authorities_file;              ///< PEM, "": the system's
  std::string certificate_file;              ///< ours, PEM, with key_file; "": none
  std::string key_file;
  std::chrono::milliseconds connect_time{2000};
};

/// `<subject>.<kind>.<change>.<namespace>`: `agones.gameserver.allocated.default`. What a subject cannot hold becomes '_'.
AGONES_ALLOC_DECL auto nats_subject(std::string_view prefix, object_event const&) -> std::string;

/// Publishes each event in structured mode, with the fields Content-Type and Nats-Msg-Id (the event's id: a stream drops
/// repeats within its duplicate window), and waits for the acknowledgements of the stream; without a stream that takes the
/// subject nothing is ever taken. Events of a batch are published in order, without waiting for each other. A stream's error of
/// the 400s is a refusal, any other is `again`.
///
/// The client library blocks, so the sink has a thread. It ends with the sink; where the library holds it, in a connect to a server that
/// stands still, a delivery that is cancelled completes all the same, and the destructor leaves the thread behind after `connect_time` and a second.
/// Lifetimes: the timer must outlive it. Thread safety: as event_sink.
class nats_sink final : public event_sink {
 public:
  /// Throws std::invalid_argument for an empty executor, url, subject or source.
  AGONES_ALLOC_DECL nats_sink(boost::asio::any_io_executor, timer&, nats_options);
  AGONES_ALLOC_DECL ~nats_sink() override;
  nats_sink(nats_sink const&) = delete;
  auto operator=(nats_sink const&) -> nats_sink& = delete;

 private:
  class worker;
  AGONES_ALLOC_DECL void do_send(event_batch_ptr, time_point, handler) override;

  std::shared_ptr<worker> worker_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/nats/nats_sink.ipp>
#endif
