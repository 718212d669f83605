#pragma once

#include <agones_alloc/flow/ticket_fsm.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto ticket_fsm::start(time_point now, time_point wait_until, std::chrono::nanoseconds claim_ttl, bool confirm) noexcept
    -> ticket_action {
  wait_until_ = std::min(wait_until, deadline_);
  claim_ttl_ = claim_ttl;
  confirms_ = confirm && claim_ttl.count() > 0;
  return ask(now);
}

AGONES_ALLOC_DECL auto ticket_fsm::start_claim(ticket_step what, time_point now) noexcept -> ticket_action {
  asks_ = what;
  alone_ = true;
  return ask(now);
}

AGONES_ALLOC_DECL auto ticket_fsm::ask(time_point now) noexcept -> ticket_action {
  if (leaving_) return end(outcome::cancelled);
  if (now >= deadline_) return end(outcome::deadline);
  ticket_action out;
  out.step = asks_;
  out.until = deadline_;
  return out;
}

AGONES_ALLOC_DECL auto ticket_fsm::finish(outcome result) noexcept -> ticket_action {
  finished_ = true;
  ticket_action out;
  out.result = result;
  return out;
}

// The event was of no use here.
AGONES_ALLOC_DECL auto ticket_fsm::idle() const noexcept -> ticket_action {
  ticket_action out;
  if (!finished_) out.step = ticket_step::sleep;
  return out;
}

// For want of time or of a caller: nothing was taken, unless that is not known.
AGONES_ALLOC_DECL auto ticket_fsm::end(outcome result) noexcept -> ticket_action {
  return finish(lost_ || holds_ ? outcome::unknown : result);
}

AGONES_ALLOC_DECL auto ticket_fsm::again(outcome otherwise, bool next_endpoint, time_point now, double draw,
                                         std::chrono::nanoseconds advice) noexcept -> ticket_action {
  if (leaving_) return end(outcome::cancelled);
  auto const wait = backoff{rules_->retry}.wait_after(++failures_, draw);
  auto const pause = std::max(wait.value_or(rules_->retry.cap), advice);
  if (!wait || deadline_ - now <= pause) {
    auto out = end(otherwise);
    if (out.result == outcome::contention || out.result == outcome::unavailable) out.retry_after = pause;
    return out;
  }
  sleeping_ = true;
  ticket_action out;
  out.step = ticket_step::sleep;
  out.next_endpoint = next_endpoint;
  out.until = now + pause;
  return out;
}

// Perhaps its write has not come through to that replica yet; perhaps an earlier try has ended it; perhaps its time is over.
AGONES_ALLOC_DECL auto ticket_fsm::missed(time_point now, double draw) noexcept -> ticket_action {
  if (missing_since_ == time_point::max()) missing_since_ = now;
  if (!alone_ && now >= lease_end_) {
    // It is over: what it was told of is somebody else's, and the id is free.
    asks_ = ticket_step::allocate;
    lost_ = holds_ = false;
    lease_end_ = missing_since_ = time_point::max();
    return ask(now);
  }
  if (alone_ && now - missing_since_ >= rules_->known_by_all) {
    auto const did_it = asks_ == ticket_step::release && lost_;
    return finish(did_it ? outcome::allocated : outcome::exhausted);
  }
  return again(outcome::exhausted, true, now, draw, std::chrono::nanoseconds{0});
}

AGONES_ALLOC_DECL auto ticket_fsm::answered(ticket_answer answer, time_point now, double draw, std::chrono::nanoseconds advice) noexcept
    -> ticket_action {
  if (finished_ || sleeping_) return idle();
  auto const allocates = asks_ == ticket_step::allocate;
  auto const twice_lost = lost_last_ && answer == ticket_answer::unknown;
  lost_last_ = answer == ticket_answer::unknown && !twice_lost;
  if (answer != ticket_answer::missing) missing_since_ = time_point::max();
  switch (answer) {
    case ticket_answer::done:
      failures_ = 0;
      lost_ = false;
      if (!allocates || !confirms_) {
        confirmed_ = asks_ == ticket_step::confirm || (allocates && claim_ttl_.count() == 0);
        return finish(outcome::allocated);
      }
      holds_ = true;
      lease_end_ = claim_ttl_ < time_point::max() - now ? now + claim_ttl_ : time_point::max();
      asks_ = ticket_step::confirm;
      return ask(now);
    case ticket_answer::other:
      failures_ = 0;
      if (alone_) {
        confirmed_ = true;
        return finish(outcome::allocated);
      }
      asks_ = ticket_step::allocate;  // who asks again is told of the one that counts
      return again(outcome::unknown, false, now, draw, advice);
    case ticket_answer::missing: return missed(now, draw);
    case ticket_answer::exhausted:
      if (allocates && now >= wait_until_) return end(outcome::exhausted);
      return again(outcome::exhausted, false, now, draw, advice);
    case ticket_answer::contention: return again(outcome::contention, false, now, draw, advice);
    case ticket_answer::unavailable: return again(outcome::unavailable, true, now, draw, advice);
    case ticket_answer::unknown:
      lost_ = true;
      return again(outcome::unknown, twice_lost, now, draw, advice);
    case ticket_answer::invalid: return finish(outcome::invalid);
    case ticket_answer::refused: return finish(outcome::refused);
  }
  return finish(outcome::unavailable);
}

AGONES_ALLOC_DECL auto ticket_fsm::time_passed(time_point now) noexcept -> ticket_action {
  if (!sleeping_) return idle();
  sleeping_ = false;
  return ask(now);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
