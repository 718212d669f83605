#pragma once

#include <agones_alloc/async/detail/allocation_engine.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Brings the store's answer back, from whatever thread.
struct answer_to_engine {
  std::shared_ptr<allocation_engine> engine;
  operation* op;
  void operator()(error_code ec, store_result answer) {
    op->ec = ec;
    op->answer = std::move(answer);
    engine->push(*op);
  }
};

inline void allocation_engine::perform(operation& op, allocation_action action) {
  while (true) {
    if (action.claim != claim_end::keep) {
      if (action.claim == claim_end::settle && action.result == outcome::allocated && !op.fsm.claiming()) {
        record_allocated(*op.answer.server, op.report);
      }
      end_claim(op, action.claim);
    }
    if (action.withdraw_write && op.cancel) op.cancel->withdraw.emit(boost::asio::cancellation_type::terminal);
    if (action.complete) tell(op, action);
    switch (action.step) {
      case allocation_step::pick:
        if (op.dry_run ? decide_for(op) : pick_for(op, action)) continue;
        return;
      case allocation_step::update: {
        if (op.cancel && op.cancel->requested.load()) {
          action = op.fsm.cancel(now_);
          continue;
        }
        auto request = update_of(op);
        wakes_.set(op, op.fsm.sent().until);
        return send_update(op, std::move(request));
      }
      case allocation_step::read:
        wakes_.set(op, action.until);
        return send_read(op);
      case allocation_step::sleep:
        // Nobody is left to wait for: the claim stays off the market until something newer is seen.
        if (closed_ && !op.fsm.has_caller()) {
          cache_.discard(op.handle);
          --writes_;
          return release(op);
        }
        return wakes_.set(op, action.until);
      case allocation_step::park: park(op); return wakes_.set(op, action.until);
      case allocation_step::hold: return wakes_.set(op, action.until);
      case allocation_step::finished: return release(op);
    }
  }
}

// It may be cancelled or run out of time here as anywhere.
inline void allocation_engine::enqueue(operation& op, operation_queue& queue) {
  queue.push_back(op);
  op.in_queue = &queue;
  wakes_.set(op, op.deadline);
}

// True: `action` is what to do next. False: the operation waits for its turn.
inline auto allocation_engine::pick_for(operation& op, allocation_action& action) -> bool {
  if (writes_ >= options_.max_writes) return enqueue(op, waiting_), false;
  pick taken;
  switch (index_.pick_and_claim(*op.request, random_, taken)) {
    case pick_status::building: return enqueue(op, building_), false;
    case pick_status::busy: action = op.fsm.busy(now_); return true;
    case pick_status::none: action = op.fsm.none(); return true;
    case pick_status::picked: break;
  }
  ++writes_;
  op.handle = taken.handle;
  op.base = std::move(taken.server);
  op.selector = taken.selector;
  op.try_started = now_;
  action = op.fsm.picked(now_);
  return true;
}

// The same for a dry run: what was claimed is free again before anybody else can look. False: it is done or waits.
inline auto allocation_engine::decide_for(operation& op) -> bool {
  pick taken;
  allocation_action action;
  action.complete = true;
  switch (index_.pick_and_claim(*op.request, random_, taken)) {
    case pick_status::building: return enqueue(op, building_), false;
    case pick_status::busy: action.result = outcome::contention; break;
    case pick_status::none: action.result = outcome::exhausted; break;
    case pick_status::picked:
      op.handle = taken.handle;
      op.base = std::move(taken.server);
      op.selector = taken.selector;
      op.answer.server = update_of(op).desired;
      cache_.put_back(op.handle);
      action.result = outcome::allocated;
      break;
  }
  tell(op, action);
  release(op);
  return false;
}

inline auto allocation_engine::update_of(operation& op) -> update_request {
  // A write is recognised by its stamp, so it must be its own: within one reading of the clock, and among
  // replicas whose clocks agree. The nanoseconds are drawn, the microseconds are true.
  if (wall_ == timer::wall_time::min()) wall_ = std::chrono::floor<std::chrono::microseconds>(timer_.wall_now());
  auto const drawn = wall_ + std::chrono::nanoseconds{static_cast<std::int64_t>(random_.below(1000))};
  last_stamp_ = op.stamp = std::max(drawn, last_stamp_ + std::chrono::nanoseconds{1});
  auto desired = std::make_shared<game_server>(*op.base);
  op.report = apply_allocation(*desired, op.request->allocation().spec, op.request->gates(), op.stamp);
  update_request request{op.base, std::move(desired), std::nullopt, false};
  if (op.deadline != timer::time_point::max()) request.deadline = op.deadline;
  request.may_take_over = true;
  return request;
}

inline void allocation_engine::send_update(operation& op, update_request request) {
  op.what = engine_message::kind::update_answer;
  answer_to_engine back{shared_from_this(), &op};
  if (op.cancel) {
    store_.async_update(std::move(request), boost::asio::bind_cancellation_slot(op.cancel->withdraw.slot(), std::move(back)));
  } else {
    store_.async_update(std::move(request), std::move(back));
  }
}

inline void allocation_engine::send_read(operation& op) {
  op.what = engine_message::kind::read_answer;
  store_.async_read(key_of(op.base->meta), answer_to_engine{shared_from_this(), &op});
}

inline auto allocation_engine::judge_read_of(operation const& op) const -> read_answer {
  if (op.ec) return op.ec == condition::gone ? read_answer::gone : read_answer::failed;
  if (op.answer.server == nullptr) return read_answer::failed;
  auto const stamp = op.stamp == timer::wall_time{} ? std::string{} : rfc3339_nano(op.stamp);
  return judge_read(*op.base, stamp, *op.answer.server);
}

inline void allocation_engine::end_claim(operation& op, claim_end how) {
  switch (how) {
    case claim_end::keep: return;
    case claim_end::put_back: cache_.put_back(op.handle); break;
    case claim_end::settle: cache_.settle(op.handle, op.answer.server); break;
    case claim_end::remove: cache_.remove(op.handle); break;
    case claim_end::refresh: return refresh(op);
  }
  --writes_;
}

// A conflict: what was claimed is stale. Unless the fresh value is known already, it is read in the background
// under the same claim, so that others see the server as busy, not as absent.
inline void allocation_engine::refresh(operation& op) {
  if (op.answer.server != nullptr) return end_claim(op, claim_end::settle);
  auto const newest = cache_.find(key_of(op.base->meta));
  if (closed_ || (newest != nullptr && is_newer(*newest, *op.base))) {
    cache_.discard(op.handle);
    --writes_;
    return;
  }
  auto reading = std::make_unique<operation>(
      operation::handler_type{}, op.request, allocation_fsm{*retry_, options_.limits, timer::time_point::max()});
  reading->handle = op.handle;
  reading->base = op.base;
  all_.push_back(*reading);
  auto& released = *reading.release();
  perform(released, released.fsm.start_refresh());
}

inline void allocation_engine::park(operation& op) {
  if (op.parked) return;
  op.parked = true;
  parked_.emplace(op.number, &op);
  index_.watch(*op.request, op.number);
}

inline void allocation_engine::unpark(operation& op) {
  if (!op.parked) return;
  op.parked = false;
  parked_.erase(op.number);
  index_.unwatch(op.number);
}

inline void allocation_engine::release(operation& op) {
  unpark(op);
  wakes_.remove(op);
  if (op.in_queue != nullptr) op.in_queue->erase(op.in_queue->iterator_to(op));
  all_.erase(all_.iterator_to(op));
  if (op.cancel) op.cancel->of = nullptr;
  delete &op;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
