#pragma once

#include <agones_alloc/beast/detail/claim_stream.hpp>
#include <agones_alloc/json/fleet_info.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline auto claim_event(claim_told const& told) -> std::string {
  bool const ended = told.answer.status != 200 || told.answer.body.find("\"ended\":") != std::string::npos;
  std::string out = told.pending ? "event: PENDING\n" : ended ? "event: ENDED\n" : "event: ALLOCATED\n";
  // JSON of one line.
  return out.append("data: ").append(told.answer.body).append("\n\n");
}

AGONES_ALLOC_DECL claim_stream::claim_stream(claim_stream_terms terms, claim_told first)
    : terms_{std::move(terms)}, first_{"retry: 1000\n\n" + claim_event(first)}, complete_{!first.pending || terms_.gate == nullptr} {}

AGONES_ALLOC_DECL void claim_stream::next(std::function<void(piece)> then) {
  then_ = std::move(then);
  if (!first_.empty()) return give(std::exchange(first_, {}));
  if (complete_) return end();
  if (!waits_) wait();
}

AGONES_ALLOC_DECL void claim_stream::stop() {
  complete_ = true;
  then_ = nullptr;
  leaving_.emit(boost::asio::cancellation_type::terminal);
}

inline void claim_stream::give(std::string text) {
  if (auto const then = std::exchange(then_, nullptr)) then(std::make_shared<std::string const>(std::move(text)));
}

inline void claim_stream::end() {
  complete_ = true;
  if (auto const then = std::exchange(then_, nullptr)) then(nullptr);
}

// The gate's own wait is the clock of the heartbeats.
inline void claim_stream::wait() {
  waits_ = true;
  auto const beat = std::min(terms_.time->now() + terms_.heartbeat, terms_.until);
  terms_.gate->async_wait(terms_.ns, terms_.id, beat,
                          boost::asio::bind_cancellation_slot(
                              leaving_.slot(), boost::asio::bind_executor(terms_.executor, [self = shared_from_this()](error_code ec, gate_result const&) {
                                self->waited(ec);
                              })));
}

inline void claim_stream::waited(error_code ec) {
  waits_ = false;
  if (complete_) return;
  if (ec == errc::cancelled) return end();  // the gate stops
  if (ec == errc::deadline_exceeded) {
    if (terms_.time->now() >= terms_.until) return end();
    return give("event: HEARTBEAT\ndata: {\"time\":\"" + format_wall_time(terms_.time->wall_now()) + "\"}\n\n");
  }
  waits_ = true;
  terms_.look(leaving_.slot(), [self = shared_from_this()](claim_told const& told) { self->looked(told); });
}

inline void claim_stream::looked(claim_told const& told) {
  waits_ = false;
  if (std::exchange(complete_, true)) return;
  // The gate does not know it yet, or not any more: who comes again is told more.
  if (told.pending) return end();
  give(claim_event(told));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
