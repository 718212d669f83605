// What one connection and its listener know of each other.
#pragma once

#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/beast/http_limits.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/intrusive/list.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// A connection as its listener sees it. Confined to the listener's executor.
class http_session : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  virtual ~http_session() = default;
  /// Closes when idle or only waiting for its client to read an answer, else ends after the answer in flight.
  virtual void drain() = 0;
  /// Closes now; a request in flight is cancelled.
  virtual void cut() = 0;
};

/// A listener as its connections see it; cleared services are never touched after `closed`.
class http_session_owner {
 public:
  virtual ~http_session_owner() = default;
  virtual void closed(http_session&) = 0;
  /// `Date` of now, formatted once a second.
  virtual auto date() -> std::string_view = 0;

  /// From now on the server waits for the next bytes of this client, or serves it.
  void waits_for(http_session& session) {
    session.unlink();
    waiting_.push_back(session);
  }
  void serves(http_session& session) { session.unlink(); }
  /// The client whose next bytes the server has waited for longest; null while it waits for none.
  auto waited_longest_for() -> http_session* { return waiting_.empty() ? nullptr : &waiting_.front(); }

  http_limits limits;
  http_handler* answerer{nullptr};
  timer* time{nullptr};
  logger* log{nullptr};
  http_observer* observer{nullptr};
  bool draining{false};

 private:
  boost::intrusive::list<http_session, boost::intrusive::constant_time_size<false>> waiting_;
};

/// The longest a connection's timer sleeps: no deadline is ever set closer than this.
inline auto shortest_time(http_limits const& limits) noexcept -> std::chrono::nanoseconds {
  auto out = limits.header_time;
  if (limits.handshake_time < out) out = limits.handshake_time;
  if (limits.body_time < out) out = limits.body_time;
  if (limits.idle_time < out) out = limits.idle_time;
  if (limits.write_time < out) out = limits.write_time;
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
