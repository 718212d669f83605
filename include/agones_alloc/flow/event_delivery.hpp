// When which events go to one sink, and what becomes of those that did not arrive.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/backoff.hpp>
#include <agones_alloc/flow/event_queue.hpp>
#include <agones_alloc/model/object_event.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct event_delivery_options {
  event_queue_options queue{};
  std::size_t batch{1};                      ///< most events in one delivery, at least 1
  std::size_t batch_bytes{256 * 1024};       ///< and most held bytes, but for a single event
  std::chrono::nanoseconds linger{0};        ///< so long a batch that is not full waits for more
  std::size_t in_flight{1};                  ///< deliveries at once, at least 1; while the sink fails, one
  backoff_options retry{backoff_options::endless(std::chrono::milliseconds{200}, std::chrono::seconds{30})};
  std::chrono::nanoseconds longest_advice{std::chrono::minutes{5}};  ///< a longer retry_after is taken as this
};

/// What was offered is one of sent, refused, dropped and merged, or waits, or is in flight.
struct event_delivery_counts {
  std::uint64_t offered{0};
  std::uint64_t sent{0};
  std::uint64_t refused{0};   ///< the sink does not want it
  std::uint64_t dropped{0};   ///< the queue was full
  std::uint64_t merged{0};    ///< became part of another event about its object
  std::uint64_t retries{0};   ///< deliveries that are sent again
  std::size_t waiting{0};
  std::size_t waiting_bytes{0};
  std::size_t in_flight{0};   ///< events sent, or about to be sent again
  bool failing{false};        ///< the last delivery did not arrive
};

/// One state machine for each sink: events and reports go in, deliveries come out. An event is in flight from its first sending
/// until its sink has taken or refused it; a repeat has the same events as the first try, in the same order, and events about
/// an object wait while one is in flight. After a failure nothing is sent until the back-off is over, then one delivery at a
/// time until one arrives. It never gives up by itself.
/// Pure: time and random draws come in. Not thread-safe.
class event_delivery {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  struct outgoing {
    std::uint64_t id{0};
    event_batch_ptr batch;
  };
  /// As in the port `event_sink`.
  enum class outcome : std::uint8_t { taken, again, refused, too_large };

  explicit event_delivery(event_delivery_options options = {})
      : options_{options}, retry_{options.retry}, queue_{options.queue} {}

  AGONES_ALLOC_DECL void offer(object_event, time_point now);
  /// What is to be sent now; call again until there is nothing.
  AGONES_ALLOC_DECL auto next(time_point now) -> std::optional<outgoing>;
  /// When `next` may have something even if nothing is offered or finished till then; time_point::max(): never.
  AGONES_ALLOC_DECL auto wake() const -> time_point;
  /// The end of a delivery. `accepted`: so many from its front were taken whatever the outcome. `draw` in [0, 1).
  AGONES_ALLOC_DECL void finished(std::uint64_t id, outcome, std::size_t accepted, std::chrono::nanoseconds advice,
                                  time_point now, double draw);
  /// Batches do not linger any more.
  void hurry() noexcept { options_.linger = std::chrono::nanoseconds{0}; }
  /// Nothing waits and nothing is in flight.
  auto idle() const noexcept -> bool { return queue_.size() == 0 && sent_.empty() && again_.empty(); }
  AGONES_ALLOC_DECL auto counts() const noexcept -> event_delivery_counts;
  /// `see(object_event const&)` for every event that has not ended; those about one object in order.
  template <class See>
  void visit(See see) const {
    for (auto const& [id, batch] : sent_) {
      for (auto const& event : batch->events) see(event);
    }
    for (auto const& batch : again_) {
      for (auto const& event : batch->events) see(event);
    }
    queue_.visit(see);
  }

 private:
  using events = std::vector<object_event>;

  auto send(event_batch_ptr) -> outgoing;
  auto lingers(time_point now) const -> bool;
  auto at_once() const noexcept -> std::size_t;
  void send_again(event_batch_ptr batch, std::size_t from, std::size_t to);

  event_delivery_options options_;
  backoff retry_;
  event_queue queue_;
  std::map<std::uint64_t, event_batch_ptr> sent_;
  std::deque<event_batch_ptr> again_;
  std::uint64_t last_id_{0};
  std::uint32_t failures_{0};  ///< in a row
  time_point not_before_{time_point::min()};
  time_point gathering_since_{time_point::max()};  ///< the batch that is being gathered
  event_delivery_counts counts_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/event_delivery.ipp>
#endif
