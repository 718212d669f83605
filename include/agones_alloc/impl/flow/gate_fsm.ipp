#pragma once

#include <agones_alloc/flow/gate_fsm.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

// Others check more slowly: they do so only for the case that the owner does not.
AGONES_ALLOC_DECL gate_fsm::gate_fsm(gate_settings const& gate, gate_limits const& limits, bool mine, time_point now,
                                     time_point deadline, double spread) noexcept
    : limits_{&limits},
      period_{mine ? gate.period : 4 * gate.period},
      deadline_{deadline},
      next_probe_{now + gate.initial_delay + (mine ? std::chrono::nanoseconds{0} : limits.takeover)},
      wanted_successes_{gate.source == gate_source::sse ? 1 : gate.successes},  // an event is said, not measured
      wanted_failures_{gate.source == gate_source::sse ? 1 : gate.failures},
      source_{gate.source},
      mine_{mine} {
  auto const part = [&](double of) { return std::chrono::nanoseconds{static_cast<std::int64_t>(static_cast<double>(period_.count()) * of)}; };
  // The first check of a new one comes at once; those that were found together, after a restart, spread.
  if (!mine) next_probe_ += part(spread);
  second_after_ = part(0.25 + 0.75 * spread);
}

AGONES_ALLOC_DECL auto gate_fsm::has_checks() const noexcept -> bool {
  switch (source_) {
    case gate_source::http:
    case gate_source::tcp:
    case gate_source::sse:
    case gate_source::grpc: return true;
    case gate_source::watch:
    case gate_source::counter:
    case gate_source::webhook: break;
  }
  return false;
}

// Twice as long each time, up to eight periods, and for each server a little different.
AGONES_ALLOC_DECL auto gate_fsm::pause_of_stream() noexcept -> std::chrono::nanoseconds {
  auto const of = second_after_ * (1U << std::min(ended_streams_, 3U));
  ++ended_streams_;
  return of;
}

AGONES_ALLOC_DECL void gate_fsm::decide(gate_verdict what, time_point when) noexcept {
  if (verdict_ != gate_verdict::none) return;
  verdict_ = what;
  act_at_ = mine_ || what == gate_verdict::abandoned ? when : when + limits_->takeover;
}

AGONES_ALLOC_DECL void gate_fsm::finish(gate_end how) noexcept {
  if (state_ == state::finished) return;
  state_ = state::finished;
  end_ = how;
}

AGONES_ALLOC_DECL auto gate_fsm::end_of_verdict() const noexcept -> gate_end {
  switch (verdict_) {
    case gate_verdict::passed: return gate_end::ready;
    case gate_verdict::timed_out: return gate_end::timed_out;
    case gate_verdict::failed: return gate_end::failed;
    case gate_verdict::abandoned: return gate_end::abandoned;
    case gate_verdict::none:
    case gate_verdict::tidied: break;
  }
  return gate_end::gone;
}

AGONES_ALLOC_DECL void gate_fsm::observed(pending_reading reading, time_point now) noexcept {
  if (state_ == state::finished) return;
  switch (reading) {
    case pending_reading::pending: return;
    case pending_reading::ready:
    case pending_reading::allocated:
      // What was ready in time, and is seen too late, was ready too late for its caller.
      if (now < deadline_) decide(gate_verdict::passed, now);
      return;
    case pending_reading::failed: return decide(gate_verdict::failed, now);
    case pending_reading::returned:
      if (verdict_ != gate_verdict::tidied && state_ != state::writing) verdict_ = gate_verdict::none;
      return decide(gate_verdict::tidied, now);
    case pending_reading::over:
      // By our own write, whose answer is yet to come or was lost, or by another replica's for the same reason.
      if (verdict_ == gate_verdict::none && now >= deadline_) verdict_ = gate_verdict::timed_out;
      return finish(verdict_ == gate_verdict::passed ? gate_end::gone : end_of_verdict());
  }
}

AGONES_ALLOC_DECL void gate_fsm::erased() noexcept {
  finish(verdict_ == gate_verdict::passed ? gate_end::gone : end_of_verdict());
}

AGONES_ALLOC_DECL void gate_fsm::probed(probe_answer answer, time_point now) noexcept {
  probing_ = false;
  if (state_ == state::finished || verdict_ != gate_verdict::none) return;
  switch (answer) {
    case probe_answer::ready:
      failures_ = 0;
      if (++successes_ >= wanted_successes_ && now < deadline_) decide(gate_verdict::passed, now);
      return;
    case probe_answer::pending:
      successes_ = failures_ = 0;
      if (source_ == gate_source::sse) next_probe_ = now + pause_of_stream();
      return;
    case probe_answer::failed:
      successes_ = 0;
      if (++failures_ >= wanted_failures_) decide(gate_verdict::failed, now);
      return;
  }
}

// Whoever hears it knows it at first hand, and need not leave it to the owner.
AGONES_ALLOC_DECL void gate_fsm::called(bool ready, time_point now) noexcept {
  if (state_ == state::finished || verdict_ != gate_verdict::none || now >= deadline_) return;
  decide(ready ? gate_verdict::passed : gate_verdict::failed, now);
  act_at_ = now;
}

AGONES_ALLOC_DECL void gate_fsm::pause(time_point now, double draw) noexcept {
  auto const wait = backoff{limits_->retry}.wait_after(std::min(++troubles_, 1000U), draw);
  act_at_ = now + wait.value_or(limits_->retry.cap);
}

AGONES_ALLOC_DECL void gate_fsm::written(write_answer answer, time_point now, double draw) noexcept {
  if (state_ != state::writing) return;
  switch (answer) {
    case write_answer::applied: return finish(end_of_verdict());
    case write_answer::gone: return erased();
    case write_answer::conflict:  // somebody else was faster: with what?
      state_ = state::to_read;
      act_at_ = now;
      return;
    case write_answer::unknown:
      state_ = state::to_read;
      return pause(now, draw);
    case write_answer::refused:
    case write_answer::not_applied:
    case write_answer::cancelled:
      state_ = state::open;
      return pause(now, draw);
  }
}

AGONES_ALLOC_DECL void gate_fsm::read_done(bool known, time_point now, double draw) noexcept {
  if (state_ != state::reading) return;
  if (known) {
    state_ = state::open;
    act_at_ = std::max(act_at_, now);
    if (++troubles_ > 3) pause(now, draw);
    return;
  }
  state_ = state::to_read;
  pause(now, draw);
}

AGONES_ALLOC_DECL void gate_fsm::abandon(time_point now) noexcept {
  if (state_ == state::finished) return;
  decide(gate_verdict::abandoned, now);
}

AGONES_ALLOC_DECL auto gate_fsm::next(time_point now) noexcept -> gate_action {
  gate_action out;
  if (state_ == state::open) {
    // A pass that could not be written for so long, by a replica that was to wait, or against a store that refuses: too late.
    bool const late_pass = verdict_ == gate_verdict::passed && now >= deadline_ + limits_->takeover;
    if (late_pass) verdict_ = gate_verdict::none;
    if (now >= deadline_) decide(gate_verdict::timed_out, std::max(deadline_, act_at_));
  }
  switch (state_) {
    case state::finished:
      out.step = gate_step::finished;
      out.end = end_;
      return out;
    case state::writing:
    case state::reading: return out;
    case state::to_read:
      out.until = act_at_;
      if (now < act_at_) return out;
      state_ = state::reading;
      out.step = gate_step::read;
      return out;
    case state::open: break;
  }
  if (verdict_ != gate_verdict::none) {
    out.until = act_at_;
    if (now < act_at_) return out;
    state_ = state::writing;
    out.step = gate_step::write;
    out.verdict = verdict_;
    return out;
  }
  out.until = deadline_;
  if (!has_checks() || probing_) return out;
  if (now < next_probe_) {
    out.until = std::min(deadline_, next_probe_);
    return out;
  }
  probing_ = true;
  out.step = gate_step::probe;
  if (source_ == gate_source::sse) return out;  // its end says when there is another one
  auto const step = second_after_.count() != 0 ? second_after_ : period_;
  second_after_ = std::chrono::nanoseconds{0};
  next_probe_ += step;
  if (next_probe_ <= now) next_probe_ = now + step;  // what was missed is not made up for
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
