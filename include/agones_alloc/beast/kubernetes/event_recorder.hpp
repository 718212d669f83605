// Events about game servers, written to the API server beside the allocations.
#pragma once

#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/backoff.hpp>
#include <agones_alloc/flow/event_correlator.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/recorder.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct event_recorder_options {
  std::string component{"GameServerAllocation-Allocator"};  ///< who tells (spec 7, step 8)
  std::size_t queue{4096};  ///< Events that wait, at least 1; one more drops the oldest
  std::size_t writers{4};   ///< requests at once, at least 1
  std::chrono::nanoseconds time{std::chrono::seconds{10}};  ///< of one request
  /// Of an Event that the API server did not take yet; it is given up after the last attempt.
  backoff_options retry{12, std::chrono::seconds{1}, 2.0, 0.0, std::chrono::seconds{10}};
  event_correlator_options correlate{};
  logger* log{nullptr};
};

struct event_recorder_counts {
  std::uint64_t recorded{0};
  std::uint64_t written{0};  ///< created or counted at the API server
  std::uint64_t skipped{0};  ///< by the rules of event_correlator
  std::uint64_t dropped{0};  ///< the queue was full
  std::uint64_t failed{0};   ///< refused, or given up
  std::size_t waiting{0};    ///< in the queue or being written
};

namespace detail {
class event_recorder_core;
}

/// Aggregates and limits as Kubernetes' own recorder does (event_correlator), from a queue of its own: an allocation
/// never waits for an Event, and what is too much is dropped and counted. Events about one object are written in order.
/// The first of a row of failures is logged.
///
/// Thread safety: all functions from any thread. Destroying it gives up what waits. Client, timer and logger must
/// outlive it and, once it is destroyed, what is pending then.
class event_recorder final : public recorder {
 public:
  /// Throws std::invalid_argument naming the option that is out of range.
  AGONES_ALLOC_DECL event_recorder(boost::asio::any_io_executor, http_client&, timer&, event_recorder_options = {});
  AGONES_ALLOC_DECL ~event_recorder() override;
  event_recorder(event_recorder const&) = delete;
  auto operator=(event_recorder const&) -> event_recorder& = delete;

  AGONES_ALLOC_DECL void record(game_server const&, type, std::string_view reason, std::string_view message) override;
  AGONES_ALLOC_DECL auto counts() const -> event_recorder_counts;

 private:
  std::shared_ptr<detail::event_recorder_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/kubernetes/event_recorder.ipp>
#endif
