#pragma once

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/detail/allocated_simply.hpp>
#include <agones_alloc/async/detail/call_deadline.hpp>
#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/detail/gated_call.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline void gated_call::hear_cancellation() {
  auto slot = boost::asio::get_associated_cancellation_slot(done_);
  can_be_cancelled_ = slot.is_connected();
  if (!can_be_cancelled_) return;
  slot.assign([weak = weak_from_this()](boost::asio::cancellation_type type) {
    if (type == boost::asio::cancellation_type::none) return;
    if (auto const self = weak.lock()) self->cancel();
  });
}

// What is under way hears it; whatever comes after it looks at the flag.
AGONES_ALLOC_DECL void gated_call::cancel() {
  cancelled_.store(true, std::memory_order_release);
  std::shared_ptr<boost::asio::cancellation_signal> stop;
  std::uint64_t waiter = 0;
  {
    std::lock_guard const lock{mutex_};
    stop = stop_;
    waiter = waiter_;
  }
  if (stop) stop->emit(boost::asio::cancellation_type::terminal);
  // Who has an id may come back for it.
  auto const gate = gate_.lock();
  if (waiter != 0 && gate) gate->leave(waiter, !has_id_ && purpose_ == claim_purpose::allocate);
}

AGONES_ALLOC_DECL void gated_call::begin(request_ptr request, timer::time_point started, timer::time_point wait_until,
                                         bool can_be_cancelled) {
  if (auto const gate = gate_.lock()) gate->enter();
  request_ = std::move(request);
  has_id_ = !call_.request_id.empty();
  started_ = started;
  deadline_ = *call_.deadline;
  wait_until_ = wait_until;
  can_be_cancelled_ = can_be_cancelled;
  tried_ = 1;
}

// Allocator or gate have been destroyed meanwhile.
inline void gated_call::closed() {
  result_type out;
  out.result = outcome::cancelled;
  finish(error_of(out.result), std::move(out));
}

inline void gated_call::try_one() {
  auto const engine = engine_.lock();
  if (!engine) return closed();
  auto options = call_;
  auto const now = clock_->now();
  options.wait_for = wait_until_ > now ? wait_until_ - now : std::chrono::nanoseconds{0};
  auto again = options.gate ? *options.gate : gate_request{};
  again.avoid = avoid_;
  options.gate = std::make_shared<gate_request const>(std::move(again));
  ++tried_;
  if (!can_be_cancelled_) {
    auto done = [self = shared_from_this()](error_code, result_type result) { self->tried(std::move(result)); };
    return engine->submit(request_, options, false, handler_type{allocated_simply(std::move(done))});
  }
  auto stop = std::make_shared<boost::asio::cancellation_signal>();
  auto done = boost::asio::bind_cancellation_slot(stop->slot(), [self = shared_from_this(), stop](error_code, result_type result) {
    self->tried(std::move(result));
  });
  {
    // Until it can hear a cancellation, none is told; and it does not end inside.
    std::lock_guard const lock{mutex_};
    engine->submit(request_, options, false, handler_type{allocated_simply(std::move(done))});
    stop_ = stop;
  }
  // It may have been cancelled before there was anything that could hear it.
  if (is_cancelled()) stop->emit(boost::asio::cancellation_type::terminal);
}

AGONES_ALLOC_DECL void gated_call::tried(result_type result) {
  {
    std::lock_guard const lock{mutex_};
    stop_.reset();
  }
  writes_ += result.tries;
  bool const waits = result.result == outcome::allocated && result.server != nullptr && has_pending(*result.server);
  if (!waits) {
    bool const no_such_state = result.result == outcome::refused && result.server_code == 422 &&
                               result.server_message.view().find("Allocating") != std::string_view::npos;
    if (no_such_state) {
      result.server_message = shared_string{"the gate's carrier Allocating needs game servers whose definition has this state, which a stock "
                                            "Agones does not: " +
                                            result.server_message.str()};
    }
    // Its server is none for the caller; but those that were tried before are to be told of.
    bool const end_of_tries = tried_ > 1 && result.result == outcome::exhausted;
    if (end_of_tries && result.server_message.empty()) result.server_message = shared_string{"no game server became ready in time"};
    return finish(error_of(result.result), std::move(result));
  }
  auto const marker = find_pending(*result.server);
  if (!marker) return finish(error_of(result.result), std::move(result));
  if (result.claim.empty()) result.claim = shared_string{marker->id};
  if (call_.gate && call_.gate->async) {
    if (auto const gate = gate_.lock()) {
      gate->stored(result.server);
      gate->keep(result.server->meta.namespace_.view(), marker->id);
    }
    return complete_with({}, std::move(result));
  }
  await(std::move(result), is_cancelled() && !has_id_);
}

inline void gated_call::await(result_type result, bool give_up) {
  claimed_ = std::move(result);
  auto const& server = claimed_.server;
  auto const gate = gate_.lock();
  if (!gate) return ended(errc::cancelled, {});
  gate->stored(server);
  auto const marker = find_pending(*server);
  auto done = [self = shared_from_this()](error_code ec, gate_result end) { self->ended(ec, std::move(end)); };
  std::uint64_t number = 0;
  {
    std::lock_guard const lock{mutex_};
    number = waiter_ = gate->wait(server->meta.namespace_.view(), marker->id, key_of(server->meta), server->meta.uid.view(), deadline_,
                                     has_id_, std::move(done));
  }
  if (is_cancelled()) gate->leave(number, give_up);
}

// Of a claim whose server is pending still: a release has begun to write, a confirmation has not.
inline auto gated_call::not_ended_result(error_code ec) const noexcept -> outcome {
  if (purpose_ == claim_purpose::release) return outcome::unknown;
  if (ec == errc::cancelled) return is_cancelled() ? outcome::cancelled : outcome::unavailable;  // or the gate stops
  return ec == errc::deadline_exceeded ? outcome::deadline : outcome::contention;
}

inline void gated_call::ended(error_code ec, gate_result end) {
  {
    std::lock_guard const lock{mutex_};
    waiter_ = 0;
  }
  // It is an ordinary claim now.
  if (purpose_ != claim_purpose::allocate && !ec && end.end == gate_end::ready) return ask_claim();
  auto out = std::move(claimed_);
  if (purpose_ != claim_purpose::allocate) {
    bool const releases = purpose_ == claim_purpose::release;
    out.result = ec ? not_ended_result(ec) : releases ? outcome::allocated : outcome::exhausted;
    out.server = end.server;
    out.not_undone = std::move(end.not_undone);
    auto code = error_of(out.result);
    if (out.result == outcome::exhausted) code = errc::not_found;
    return finish(code, std::move(out));
  }
  if (ec) {
    // It goes on, and may become the caller's: nobody can say yet.
    out.result = outcome::unknown;
    if (end.server != nullptr) out.server = end.server;
    out.server_message = shared_string{"the game server was claimed, and is not ready yet"};
    return complete_with(error_of(out.result), std::move(out));
  }
  // Of several that share it the first may have come and gone before this replica saw that it was handed over.
  bool const is_its = end.server != nullptr && end.server->status.state == game_server_state::allocated && !has_pending(*end.server) &&
                      find_claim(*end.server, out.claim.view());
  if (end.end == gate_end::ready || is_its) {
    out.server = end.server;
    return complete_with({}, std::move(out));
  }
  claimed_ = std::move(out);
  not_ready(end);
}

// The next one, if there is time, and it may be.
inline void gated_call::not_ready(gate_result const& end) {
  auto const& server = *claimed_.server;
  auto const marker = find_pending(server);
  auto const now = clock_->now();
  attempt failed;
  failed.server = key_of(server.meta);
  failed.result = end.end == gate_end::timed_out ? outcome::deadline : end.end == gate_end::abandoned ? outcome::cancelled : outcome::unavailable;
  // Nobody gives up a server that somebody else waits for.
  bool const released = end.end == gate_end::abandoned && !is_cancelled();
  failed.message = "readiness gate: " + std::string{released ? "released" : to_string(end.end)};
  for (auto const& line : end.not_undone) failed.message += "; not undone: " + line;
  failed.took = end.took;
  std::move(claimed_.attempts.begin(), claimed_.attempts.end(), std::back_inserter(attempts_));
  attempts_.push_back(std::move(failed));
  avoid_.push_back(key_of(server.meta));
  if (end.end == gate_end::abandoned || is_cancelled()) {
    result_type out;
    out.result = outcome::cancelled;
    if (released) out.server_message = shared_string{"the claim was released before its game server was ready for players"};
    return complete_with(error_of(out.result), std::move(out));
  }
  constexpr auto too_little = std::chrono::milliseconds{100};
  bool const no_time = deadline_ - now < too_little;
  if (!no_time && tried_ < marker->gate.servers) return try_one();
  result_type out;
  out.result = no_time ? outcome::deadline : outcome::exhausted;
  out.server_message = shared_string{"no game server became ready in time: " + std::to_string(tried_) + " tried"};
  complete_with(error_of(out.result), std::move(out));
}

// With a result that is the call's own: each call counts once.
inline void gated_call::complete_with(error_code ec, result_type result) {
  if (counts_ != nullptr && (!call_.tentative_since || result.result == outcome::allocated)) {
    allocation_sample sample;
    sample.result = result.result;
    if (result.server != nullptr) sample.fleet = result.server->meta.labels.value_or_empty(keys::fleet_label);
    sample.scheduling = request_->allocation().spec.scheduling.view();
    sample.tries = writes_;
    sample.multi_cluster = call_.tentative_since || request_->allocation().spec.multi_cluster.enabled;
    sample.took = clock_->now() - call_.tentative_since.value_or(started_);
    counts_->allocation(sample);
  }
  finish(ec, std::move(result));
}

// The same with one that the engine has counted, or that does not count.
inline void gated_call::finish(error_code ec, result_type result) {
  if (!attempts_.empty()) {
    std::move(result.attempts.begin(), result.attempts.end(), std::back_inserter(attempts_));
    result.attempts = std::move(attempts_);
    result.tries = writes_;
  }
  if (auto const gate = gate_.lock()) gate->done();
  complete(own_, std::move(done_), ec, std::move(result));
}

AGONES_ALLOC_DECL void gated_call::on_claim(claim_purpose what, release_to to, shared_string ns, shared_string id) {
  purpose_ = what;
  to_ = to;
  ns_ = std::move(ns);
  id_ = std::move(id);
  if (auto const gate = gate_.lock()) gate->enter();
  deadline_ = call_deadline(call_, clock_->now(), timeout_);
  hear_cancellation();
  ask_claim();
}

inline void gated_call::ask_claim() {
  auto const engine = engine_.lock();
  if (!engine) return closed();
  auto part = std::make_unique<claim_part>();
  part->what = purpose_;
  part->to = to_;
  part->identify(ns_, id_);
  auto options = call_;
  options.deadline = deadline_;
  options.timeout.reset();
  auto stop = std::make_shared<boost::asio::cancellation_signal>();
  auto done = boost::asio::bind_cancellation_slot(stop->slot(), [self = shared_from_this(), stop](error_code ec, result_type result) {
    self->asked(ec, std::move(result));
  });
  {
    std::lock_guard const lock{mutex_};
    engine->submit(std::move(part), options, handler_type{allocated_simply(std::move(done))});
    stop_ = stop;
  }
  if (is_cancelled()) stop->emit(boost::asio::cancellation_type::terminal);
}

inline void gated_call::asked(error_code ec, result_type result) {
  {
    std::lock_guard const lock{mutex_};
    stop_.reset();
  }
  bool const waits = result.result == outcome::allocated && result.server != nullptr && has_pending(*result.server);
  if (!waits || purpose_ == claim_purpose::find) return finish(ec, std::move(result));
  auto const gate = gate_.lock();
  if (purpose_ == claim_purpose::release && gate) gate->give_up(ns_.view(), id_.view(), to_);
  await(std::move(result), false);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
