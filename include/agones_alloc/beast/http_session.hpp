// What one connection and its listener know of each other.
#pragma once

#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/beast/http_limits.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// A connection as its listener sees it. Confined to the listener's executor.
class http_session {
 public:
  virtual ~http_session() = default;
  /// Closes when idle or only waiting for its client to read an answer, else ends after the answer in flight.
  virtual void drain() = 0;
  /// Closes now; a request in flight is cancelled.
  virtual void cut() = 0;
  /// Since when the server has been waiting for this client's bytes; time_point::max() while it is not.
  virtual auto waiting_since() const noexcept -> timer::time_point = 0;
};

/// A listener as its connections see it; cleared services are never touched after `closed`.
class http_session_owner {
 public:
  virtual ~http_session_owner() = default;
  virtual void closed(http_session&) = 0;
  /// `Date` of now, formatted once a second.
  virtual auto date() -> std::string_view = 0;

  http_limits limits;
  http_handler* answerer{nullptr};
  timer* time{nullptr};
  logger* log{nullptr};
  http_observer* observer{nullptr};
  bool draining{false};
};

/// The longest a connection's timer sleeps: no deadline is ever set closer than this.
inline auto shortest_time(http_limits const& limits) noexcept -> std::chrono::nanoseconds {
  auto out = limits.header_time;
  if (limits.body_time < out) out = limits.body_time;
  if (limits.idle_time < out) out = limits.idle_time;
  if (limits.write_time < out) out = limits.write_time;
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
