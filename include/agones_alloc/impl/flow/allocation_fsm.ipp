#pragma once

#include <agones_alloc/flow/allocation_fsm.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

// Waiting for an answer, or ignoring an event: the caller's deadline still counts.
AGONES_ALLOC_DECL auto allocation_fsm::hold() const noexcept -> allocation_action {
  allocation_action action;
  switch (state_) {
    case state::finished: return action;
    case state::parked:
      action.step = allocation_step::park;
      action.until = std::min(deadline_, parked_until());
      return action;
    case state::retry_pause:
    case state::read_pause:
    case state::repeat_pause:
      action.step = allocation_step::sleep;
      action.until = caller_ ? std::min(deadline_, wake_) : wake_;
      return action;
    case state::picking:
    case state::claimed:
    case state::joined:
    case state::writing:
    case state::reading: break;
  }
  action.step = allocation_step::hold;
  if (caller_) action.until = deadline_;
  return action;
}

// Who may wait for a server that does not exist yet waits as long for one that is being written.
AGONES_ALLOC_DECL auto allocation_fsm::parked_until() const noexcept -> time_point {
  return waiting_ ? wait_until_ : std::max(park_until_, wait_until_);
}

AGONES_ALLOC_DECL auto allocation_fsm::finish(outcome result, claim_end claim) noexcept -> allocation_action {
  allocation_action action;
  action.claim = claim;
  action.complete = caller_;
  action.result = result;
  state_ = state::finished;
  caller_ = false;
  claiming_ = false;
  return action;
}

// The caller goes; the claim stays until its fate is known.
AGONES_ALLOC_DECL auto allocation_fsm::tell(outcome result) noexcept -> allocation_action {
  auto const complete = caller_;
  caller_ = false;
  auto action = hold();
  action.complete = complete;
  action.result = result;
  return action;
}

AGONES_ALLOC_DECL auto allocation_fsm::start(time_point now) noexcept -> allocation_action {
  if (now >= deadline_) return finish(outcome::deadline);
  allocation_action action;
  action.step = allocation_step::pick;
  action.until = deadline_;
  return action;
}

AGONES_ALLOC_DECL auto allocation_fsm::start_refresh() noexcept -> allocation_action {
  caller_ = false;
  claiming_ = true;
  return read_back();
}

AGONES_ALLOC_DECL auto allocation_fsm::picked(time_point now) noexcept -> allocation_action {
  if (state_ != state::picking) return hold();
  if (now >= deadline_) return finish(outcome::deadline, claim_end::put_back);
  state_ = state::claimed;
  claiming_ = true;
  allocation_action action;
  action.step = allocation_step::update;
  action.until = deadline_;
  return action;
}

AGONES_ALLOC_DECL auto allocation_fsm::busy(time_point now) noexcept -> allocation_action {
  if (state_ != state::picking) return hold();
  if (now >= deadline_) return finish(outcome::deadline);
  if (park_until_ == time_point::max() && limits_->park < time_point::max() - now) park_until_ = now + limits_->park;
  state_ = state::parked;
  waiting_ = false;
  return now >= parked_until() ? time_passed(now) : hold();
}

AGONES_ALLOC_DECL auto allocation_fsm::none(time_point now) noexcept -> allocation_action {
  if (state_ != state::picking) return hold();
  if (!would_wait(now)) return finish(outcome::exhausted);
  state_ = state::parked;
  waiting_ = true;
  return hold();
}

AGONES_ALLOC_DECL auto allocation_fsm::known(outcome result, std::chrono::nanoseconds advice) noexcept -> allocation_action {
  if (state_ != state::picking) return hold();
  auto action = finish(result);
  action.retry_after = advice;
  return action;
}

AGONES_ALLOC_DECL auto allocation_fsm::nothing_to_write(outcome result) noexcept -> allocation_action {
  if (state_ != state::claimed) return hold();
  return finish(result, claim_end::put_back);
}

AGONES_ALLOC_DECL auto allocation_fsm::join() noexcept -> allocation_action {
  if (state_ == state::picking) {
    state_ = state::joined;
    ++tries_;
  }
  return hold();
}

// Its part cannot be taken out of the write any more: who leaves is told what came of it.
AGONES_ALLOC_DECL auto allocation_fsm::join_ended(shared_fate fate, time_point now, double draw) noexcept
    -> allocation_action {
  if (state_ != state::joined) return hold();
  switch (fate) {
    case shared_fate::applied: return finish(outcome::allocated);
    case shared_fate::unknown: return finish(outcome::unknown);
    case shared_fate::lost: return try_again(claim_end::keep, true, now, draw, std::chrono::nanoseconds{0});
    case shared_fate::left: break;
  }
  if (leaving_) return finish(outcome::cancelled);
  state_ = state::picking;
  return start(now);
}

AGONES_ALLOC_DECL auto allocation_fsm::sent() noexcept -> allocation_action {
  if (state_ == state::claimed) {
    state_ = state::writing;
    ++tries_;
  }
  return hold();
}

AGONES_ALLOC_DECL auto allocation_fsm::update_done(write_answer answer, time_point now, double draw,
                                                   std::chrono::nanoseconds advice) noexcept -> allocation_action {
  if (state_ != state::writing) return hold();
  if (haunted_) {
    switch (answer) {
      case write_answer::applied:
      case write_answer::gone:
      case write_answer::unknown: break;
      case write_answer::conflict: return read_back();  // was it the first one?
      case write_answer::refused:
      case write_answer::not_applied:
      case write_answer::cancelled: return repeat(now, draw);
    }
  }
  switch (answer) {
    case write_answer::applied: return finish(outcome::allocated, claim_end::settle);
    case write_answer::refused: return finish(outcome::refused, claim_end::put_back);
    case write_answer::conflict: return try_again(claim_end::refresh, true, now, draw, advice);
    case write_answer::gone: return try_again(claim_end::remove, true, now, draw, advice);
    case write_answer::not_applied:
    case write_answer::cancelled: return try_again(claim_end::put_back, false, now, draw, advice);
    case write_answer::unknown: break;
  }
  haunted_ = true;
  auto action = read_back();
  if (caller_ && (leaving_ || now >= deadline_)) {
    caller_ = false;
    action.complete = true;
    action.result = outcome::unknown;
    action.until = time_point::max();
  }
  return action;
}

AGONES_ALLOC_DECL auto allocation_fsm::read_back() noexcept -> allocation_action {
  state_ = state::reading;
  ++reads_;
  allocation_action action;
  action.step = allocation_step::read;
  if (caller_) action.until = deadline_;
  return action;
}

AGONES_ALLOC_DECL auto allocation_fsm::read_done(read_answer answer, time_point now, double draw) noexcept
    -> allocation_action {
  if (state_ != state::reading) return hold();
  constexpr auto no_advice = std::chrono::nanoseconds{0};
  switch (answer) {
    case read_answer::applied: return finish(outcome::allocated, claim_end::settle);
    case read_answer::ambiguous: return finish(outcome::unknown, claim_end::settle);
    case read_answer::untouched: return repeat(now, draw);
    case read_answer::superseded: return try_again(claim_end::settle, true, now, draw, no_advice);
    case read_answer::gone: return try_again(claim_end::remove, true, now, draw, no_advice);
    case read_answer::failed: break;
  }
  state_ = state::read_pause;
  auto const wait = backoff{limits_->resolve}.wait_after(reads_, draw).value_or(limits_->resolve.cap);
  wake_ = now + wait;
  if (caller_ && (reads_ >= limits_->resolve_attempts || wake_ >= deadline_)) return tell(outcome::unknown);
  return hold();
}

AGONES_ALLOC_DECL auto allocation_fsm::try_again(claim_end claim, bool lost_race, time_point now, double draw,
                                                 std::chrono::nanoseconds advice) noexcept -> allocation_action {
  claiming_ = false;
  haunted_ = false;
  reads_ = 0;
  if (!caller_) return finish(outcome::unknown, claim);
  if (leaving_) return finish(outcome::cancelled, claim);
  if (now >= deadline_) return finish(outcome::deadline, claim);
  auto const wait = policy_->wait_after(++failures_, draw);
  auto const longest = deadline_ - now;
  auto const pause = std::max(wait.value_or(advice), advice);
  if (!wait || pause >= longest) {
    auto action = finish(lost_race ? outcome::contention : outcome::unavailable, claim);
    action.retry_after = pause;
    return action;
  }
  state_ = state::retry_pause;
  wake_ = now + pause;
  auto action = hold();
  action.claim = claim;
  return action;
}

// The write is not there, but nobody can say that it will not be. The same again: the version lets one of the two pass.
AGONES_ALLOC_DECL auto allocation_fsm::repeat(time_point now, double draw) noexcept -> allocation_action {
  reads_ = 0;
  if (!haunted_ || (!caller_ && !persistent_)) return finish(outcome::unknown, claim_end::put_back);
  auto const wait = policy_->wait_after(++failures_, draw);
  state_ = state::repeat_pause;
  wake_ = now + wait.value_or(limits_->resolve.cap);
  auto const too_long = !wait || leaving_ || now >= deadline_;
  return too_long ? give_up() : hold();
}

// The caller goes while a write of its may be on its way.
AGONES_ALLOC_DECL auto allocation_fsm::give_up() noexcept -> allocation_action {
  return persistent_ ? tell(outcome::unknown) : finish(outcome::unknown, claim_end::put_back);
}

AGONES_ALLOC_DECL auto allocation_fsm::time_passed(time_point now) noexcept -> allocation_action {
  if (caller_ && now >= deadline_) {
    switch (state_) {
      case state::parked:
        // Its time to wait was cut to what the caller had: there was no server, which is an answer.
        if (waiting_) return finish(outcome::exhausted);
        return finish(outcome::deadline);
      case state::picking:
      case state::retry_pause: return finish(outcome::deadline);
      case state::claimed: return finish(haunted_ ? outcome::unknown : outcome::deadline, claim_end::put_back);
      case state::repeat_pause: return give_up();
      case state::joined: return finish(outcome::unknown);
      case state::writing:
      case state::reading:
      case state::read_pause: return tell(outcome::unknown);
      case state::finished: break;
    }
  }
  switch (state_) {
    case state::retry_pause:
      if (now < wake_) break;
      state_ = state::picking;
      return start(now);
    case state::read_pause:
      if (now < wake_) break;
      return read_back();
    case state::repeat_pause: {
      if (now < wake_) break;
      state_ = state::claimed;
      allocation_action action;
      action.step = allocation_step::update;
      if (caller_) action.until = deadline_;
      return action;
    }
    case state::parked: {
      if (now < parked_until()) break;
      if (waiting_) return finish(outcome::exhausted);
      auto action = finish(outcome::contention);
      action.retry_after = policy_->wait_after(1, 0.0).value_or(std::chrono::nanoseconds{0});
      return action;
    }
    case state::picking:
    case state::claimed:
    case state::joined:
    case state::writing:
    case state::reading:
    case state::finished: break;
  }
  return hold();
}

AGONES_ALLOC_DECL auto allocation_fsm::woken(time_point now) noexcept -> allocation_action {
  if (state_ != state::parked) return hold();
  state_ = state::picking;
  return start(now);
}

AGONES_ALLOC_DECL auto allocation_fsm::cancel(time_point now) noexcept -> allocation_action {
  if (!caller_) return hold();
  switch (state_) {
    case state::picking:
    case state::retry_pause:
    case state::parked: return finish(outcome::cancelled);
    case state::claimed: return finish(haunted_ ? outcome::unknown : outcome::cancelled, claim_end::put_back);
    case state::repeat_pause: return give_up();
    case state::reading:
    case state::read_pause: return tell(outcome::unknown);
    case state::joined: leaving_ = true; break;
    case state::writing: {
      leaving_ = true;
      auto action = now >= deadline_ ? tell(outcome::unknown) : hold();
      action.withdraw_write = true;
      return action;
    }
    case state::finished: break;
  }
  return hold();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
