// Tells sinks what happens to game servers and fleets.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/event_delivery.hpp>
#include <agones_alloc/flow/event_filter.hpp>
#include <agones_alloc/model/object_event.hpp>
#include <agones_alloc/port/event_sink.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/server_source.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct event_channel_options {
  std::string name{};        ///< for logs and counts
  event_filter filter{};
  event_delivery_options delivery{};
  std::chrono::nanoseconds time{std::chrono::seconds{10}};  ///< of one delivery
};

/// Counts of one channel.
struct event_channel_counts {
  std::string name;
  event_delivery_counts of;
};

namespace detail {
class event_publisher_core;
}

/// Fed where the ready cache is fed. It finds out which change is which event (event_tracker), and gives each sink those
/// that its filter wants, from a queue of the sink's own: a sink that stalls costs the others nothing, and whoever
/// feeds never waits. Delivery is at least once, in order for each object; see event_queue for what happens when
/// a queue is full, and event_delivery for repeats. The first of a row of failures is logged, and its end.
///
/// Thread safety: all functions from any thread, after the last `add`. Values of one object are to come in order.
/// Lifetimes: timer, random source and logger must outlive it and, once it is destroyed, what is pending on the executor
/// then; it keeps the sinks alive as long. Destroying it gives up what waits.
class event_publisher {
 public:
  using drained_handler = boost::asio::any_completion_handler<void(std::size_t)>;

  /// Throws std::invalid_argument for an empty executor.
  AGONES_ALLOC_DECL event_publisher(boost::asio::any_io_executor, timer&, random_source&, logger* = nullptr);
  AGONES_ALLOC_DECL ~event_publisher();
  event_publisher(event_publisher const&) = delete;
  auto operator=(event_publisher const&) -> event_publisher& = delete;

  /// Before anything is fed. Throws std::invalid_argument for a null sink, a name used twice, or an option out of range.
  AGONES_ALLOC_DECL void add(std::shared_ptr<event_sink>, event_channel_options);

  AGONES_ALLOC_DECL void stored(game_server_ptr const&);
  AGONES_ALLOC_DECL void erased(object_key const&, std::string_view uid, game_server_ptr const& last = nullptr);
  /// A complete list: what is not in it is gone.
  AGONES_ALLOC_DECL void replaced(std::span<game_server_ptr const>);
  /// For reflector_options::on_event.
  AGONES_ALLOC_DECL void heard(server_event const&);
  /// All fleets there are.
  AGONES_ALLOC_DECL void fleets(std::span<fleet const>);
  /// Whether any sink wants events about fleets.
  AGONES_ALLOC_DECL auto wants_fleets() const -> bool;

  AGONES_ALLOC_DECL auto counts() const -> std::vector<event_channel_counts>;

  /// What a later run is to go on from: the game servers as every sink has been told of them. One whose events have not all
  /// arrived is as it was before these, without resource version, and is left out if it was not told of at all.
  AGONES_ALLOC_DECL auto told() const -> std::vector<game_server_ptr>;
  /// Before anything is fed: what an earlier run's `told` gave. The first list is then told by what is different.
  AGONES_ALLOC_DECL void recall(std::span<game_server_ptr const>);

  /// Takes no more changes in and sends what waits without lingering. Completes when all of it has arrived or was
  /// refused, or at the deadline, with the number of events that did not; they are given up, and the sinks have let go. Once.
  /// Handler signature: void(std::size_t). Cancellation: none; destroy the publisher.
  template <class Token = boost::asio::deferred_t>
  auto async_drain(timer::time_point deadline, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(std::size_t)>(
        [this](auto h, timer::time_point until) { drain(until, drained_handler{std::move(h)}); }, token, deadline);
  }

 private:
  AGONES_ALLOC_DECL void drain(timer::time_point, drained_handler);

  std::shared_ptr<detail::event_publisher_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/event_publisher.ipp>
#endif
