#pragma once

#include <agones_alloc/flow/cluster_fsm.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL cluster_fsm::cluster_fsm(connection_iterator clusters, request what, cluster_limits const& limits)
    : clusters_{std::move(clusters)}, request_{what}, limits_{&limits}, current_{nobody()} {}

// This cluster, where no policy is about it.
AGONES_ALLOC_DECL auto cluster_fsm::nobody() noexcept -> cluster const* {
  static cluster const none;
  return &none;
}

AGONES_ALLOC_DECL auto cluster_fsm::start(surroundings with) -> cluster_action { return next_cluster(with); }

AGONES_ALLOC_DECL auto cluster_fsm::finish(outcome result) -> cluster_action {
  state_ = state::finished;
  return {cluster_step::finished, result, {}};
}

AGONES_ALLOC_DECL void cluster_fsm::note(outcome result, std::string message, std::chrono::nanoseconds took) {
  if (attempts_.size() >= limits_->most_attempts) return;
  attempt one;
  one.cluster = current_->identity;
  one.endpoint = endpoint_.str();
  one.result = result;
  one.message = std::move(message);
  one.took = took;
  attempts_.push_back(std::move(one));
}

// In their order.
AGONES_ALLOC_DECL void cluster_fsm::queue_up(std::vector<cluster const*>& next) {
  queue_.assign(next.rbegin(), next.rend());
  next.clear();
}

AGONES_ALLOC_DECL auto cluster_fsm::pause(time_point until) -> cluster_action {
  state_ = state::sleeping;
  return {cluster_step::sleep, {}, until};
}

// The next one to be asked becomes the present one; false: none is left in this round.
AGONES_ALLOC_DECL auto cluster_fsm::take_cluster(surroundings& with) -> bool {
  while (drawing_) {
    auto const* const drawn = clusters_.next_cluster(with.random);
    if (drawn == nullptr) {
      drawing_ = false;
      // Deferred is not refused: the memory may be wrong, and nobody else had a server.
      queue_up(deferred_);
      break;
    }
    bool const remote = !drawn->connection.allocation_endpoints.empty();
    remotes_ = remotes_ || remote;
    if (remote && with.memory.was_exhausted(drawn->identity, request_.shape, with.now)) {
      deferred_.push_back(drawn);
      continue;
    }
    current_ = drawn;
    return true;
  }
  if (!queue_.empty()) {
    current_ = queue_.back();
    queue_.pop_back();
    return true;
  }
  if (!limits_->fallback_local || local_tried_) return false;
  current_ = nobody();
  return true;
}

AGONES_ALLOC_DECL auto cluster_fsm::next_cluster(surroundings& with) -> cluster_action {
  in_doubt_ = false;
  while (take_cluster(with)) {
    at_ = 0;
    called_ = false;
    endpoint_ = {};
    if (!is_remote()) {
      local_tried_ = true;
      here_ = current_;
      return call(with);
    }
    if (request_.hops >= limits_->max_hops) {
      note(outcome::unavailable, "not forwarded: the request has been forwarded too often", {});
      continue;
    }
    return next_endpoint(with);
  }
  return end_of_round(with);
}

AGONES_ALLOC_DECL auto cluster_fsm::call(surroundings& with) -> cluster_action {
  if (with.now >= request_.deadline) {
    if (is_remote()) with.memory.ended(current_->identity, endpoint_.view(), {admission_, outcome::cancelled, {}, {}}, with.now, 0);
    return finish(in_doubt_ ? outcome::unknown : at_deadline_);
  }
  state_ = state::calling;
  called_at_ = with.now;
  ++calls_;
  if (!is_remote()) return {cluster_step::local, {}, {}};
  called_ = true;
  return {cluster_step::remote, {}, {}};
}

AGONES_ALLOC_DECL auto cluster_fsm::next_endpoint(surroundings& with) -> cluster_action {
  auto const& endpoints = current_->connection.allocation_endpoints;
  for (; at_ < endpoints.size(); ++at_) {
    endpoint_ = endpoints[at_];
    admission_ = with.memory.ask(current_->identity, endpoint_.view(), with.now);
    if (admission_ != breaker::admission::no) return call(with);
    note(outcome::unavailable, "not called: its breaker is open", {});
  }
  if (in_doubt_) return finish(outcome::unknown);
  round_.unreachable = true;
  if (called_) round_.unreached.push_back(current_);
  return next_cluster(with);
}

AGONES_ALLOC_DECL auto cluster_fsm::not_executed(bool whole_cluster, surroundings& with) -> cluster_action {
  if (!is_remote()) {
    round_.unreachable = true;
    return next_cluster(with);
  }
  at_ = whole_cluster ? current_->connection.allocation_endpoints.size() : at_ + 1;
  return next_endpoint(with);
}

// It may be executed still: nobody else may be asked, and this cluster only under the same request id.
AGONES_ALLOC_DECL auto cluster_fsm::unknown_fate(surroundings& with) -> cluster_action {
  if (!is_remote() || repeated_ >= limits_->repeats) return finish(outcome::unknown);
  in_doubt_ = true;
  ++repeated_;
  auto const wait = backoff{limits_->rounds}.wait_after(repeated_, with.random.unit()).value_or(limits_->rounds.cap);
  if (with.now + wait >= request_.deadline) return finish(outcome::unknown);
  again_ = true;
  return pause(with.now + wait);
}

AGONES_ALLOC_DECL auto cluster_fsm::answered(cluster_answer answer, surroundings with) -> cluster_action {
  if (state_ != state::calling) return {cluster_step::hold, {}, {}};
  state_ = state::idle;
  auto const took = with.now - called_at_;
  // The time of this call was up, not yet that of the request.
  if (answer.result == outcome::deadline && with.now < request_.deadline) answer.result = outcome::unavailable;
  if (is_remote()) {
    cluster_memory::ended_call const ended{admission_, answer.result, answer.message, took};
    with.memory.ended(current_->identity, endpoint_.view(), ended, with.now, with.random.unit());
    if (answer.result == outcome::exhausted) with.memory.exhausted(current_->identity, request_.shape, with.now);
    if (answer.result == outcome::allocated) with.memory.not_exhausted(current_->identity, request_.shape);
  }
  // Its queue may be full: it would be the same at once.
  bool const too_soon = std::exchange(waiting_, false) && with.now < waits_until_;
  note(answer.result, std::move(answer.message), took);
  auto const or_unknown = [this](outcome result) { return finish(in_doubt_ ? outcome::unknown : result); };
  switch (answer.result) {
    case outcome::allocated: return finish(outcome::allocated);
    case outcome::invalid:
    case outcome::refused:
    case outcome::cancelled:
    case outcome::deadline: return or_unknown(answer.result);
    case outcome::unknown: return leaving_ ? finish(outcome::unknown) : unknown_fate(with);
    case outcome::unavailable:
      if (leaving_) return or_unknown(outcome::cancelled);
      if (too_soon) return pause(waits_until_);
      return not_executed(answer.whole_cluster, with);
    case outcome::contention:
      round_.contention = true;
      retry_after_ = std::max(retry_after_, answer.retry_after);
      if (is_remote()) round_.busy.push_back(current_);
      break;
    case outcome::exhausted: exhausted_ = true; break;
  }
  // Of a remote that honours request ids, these also say that the call in doubt was not executed.
  if (leaving_) return finish(outcome::cancelled);
  return too_soon ? pause(waits_until_) : next_cluster(with);
}

AGONES_ALLOC_DECL auto cluster_fsm::end_of_round(surroundings& with) -> cluster_action {
  auto const result = round_.contention ? outcome::contention : exhausted_ ? outcome::exhausted : outcome::unavailable;
  if (result != outcome::unavailable && with.now < std::min(request_.wait_until, request_.deadline)) return wait_for_one(result, with);
  auto& next = result == outcome::contention ? round_.busy : round_.unreached;
  if (result == outcome::exhausted || next.empty()) return finish(result);
  auto wait = backoff{limits_->rounds}.wait_after(rounds_, with.random.unit());
  if (!wait) return finish(result);
  if (result == outcome::contention) wait = std::max(*wait, retry_after_);
  if (*wait >= request_.deadline - with.now) return finish(result);
  queue_up(next);
  round_ = {};
  ++rounds_;
  return pause(with.now + *wait);
}

// All were asked. They are asked again after a while, which is spent in this cluster's queue if it is one of them.
AGONES_ALLOC_DECL auto cluster_fsm::wait_for_one(outcome so_far, surroundings& with) -> cluster_action {
  at_deadline_ = so_far;
  waits_until_ = std::min(request_.wait_until, request_.deadline);
  bool const others = remotes_ || here_ == nullptr;
  if (others && limits_->wait_slice < waits_until_ - with.now) waits_until_ = with.now + limits_->wait_slice;
  clusters_.restart();
  drawing_ = true;
  local_tried_ = false;
  exhausted_ = false;
  round_ = {};
  if (here_ == nullptr) return pause(waits_until_);
  current_ = here_;
  endpoint_ = {};
  waiting_ = true;
  auto out = call(with);
  out.until = waits_until_;
  return out;
}

AGONES_ALLOC_DECL auto cluster_fsm::woken(surroundings with) -> cluster_action {
  if (state_ != state::sleeping) return {cluster_step::hold, {}, {}};
  state_ = state::idle;
  if (!std::exchange(again_, false)) return next_cluster(with);
  // Whatever the breaker says: the fate of a call hangs on it.
  admission_ = breaker::admission::yes;
  return call(with);
}

AGONES_ALLOC_DECL auto cluster_fsm::cancel() -> cluster_action {
  if (state_ == state::finished) return {cluster_step::hold, {}, {}};
  if (state_ != state::calling) return finish(in_doubt_ ? outcome::unknown : outcome::cancelled);
  leaving_ = true;
  return {cluster_step::hold, {}, {}};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
