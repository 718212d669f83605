// Port: where events about game servers and fleets go.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/object_event.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What became of a batch.
enum class delivery_outcome : std::uint8_t {
  taken,      ///< all of it; the receiver has said so
  again,      ///< not, or nobody knows: what was not taken is sent again after a while
  refused,    ///< the receiver does not want it, and will not the next time: what was not taken is given up
  too_large,  ///< in one piece: what was not taken is sent again in smaller ones, and given up when it is one event
};

struct delivery_report {
  delivery_outcome outcome{delivery_outcome::again};
  std::size_t taken{0};  ///< with another outcome than `taken`: so many from the front were taken all the same
  std::chrono::nanoseconds retry_after{0};  ///< the receiver's wish, 0: none
  std::string reason{};  ///< for the log: a status, an error. Never of an event or a key
};

/// Implementations: the webhook of the adapters, NATS, the user's own. An event may come more than once, always as the same
/// event; receivers tell repeats by its id.
///
/// Completion never runs inside the initiating function, and comes soon after `deadline` at the latest. Cancellation:
/// terminal; ends in `again`. Several calls may be out at once, if the publisher is told so; those never have events about
/// the same object. Thread safety: initiated from the publisher's executor only; completes on any thread.
class event_sink {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using handler = boost::asio::any_completion_handler<void(delivery_report)>;

  virtual ~event_sink() = default;

  /// Handler signature: void(delivery_report).
  template <class Token = boost::asio::deferred_t>
  auto async_send(event_batch_ptr batch, time_point deadline, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(delivery_report)>(
        [this](auto h, event_batch_ptr b, time_point d) { do_send(std::move(b), d, handler{std::move(h)}); }, token,
        std::move(batch), deadline);
  }

 private:
  virtual void do_send(event_batch_ptr, time_point, handler) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
