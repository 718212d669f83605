#pragma once

#include <agones_alloc/async/detail/allocation_engine.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

auto fate_of(allocation_action const&) noexcept -> shared_fate;  // allocation_sharing.ipp

/// Brings the store's answer back, from whatever thread. The turn may be looking at the operation meanwhile.
class answer_to_engine {
 public:
  /// Asio's default keeps two blocks for reuse, and takes the others with an alignment, which is slow.
  using allocator_type = small_block_allocator<void>;
  auto get_allocator() const noexcept -> allocator_type { return {}; }

  answer_to_engine(std::shared_ptr<allocation_engine> engine, operation& op) noexcept
      : engine_{std::move(engine)}, op_{&op} {
    op.dropped.store(false, std::memory_order_relaxed);  // nobody else knows of this answer yet
  }
  answer_to_engine(answer_to_engine&&) noexcept = default;
  ~answer_to_engine() {
    if (engine_ != nullptr) op_->dropped.store(true);
  }
  void operator()(error_code ec, store_result answer) {
    auto const engine = std::move(engine_);
    op_->incoming_ec = ec;
    op_->incoming = std::move(answer);
    engine->push(*op_);
  }

 private:
  std::shared_ptr<allocation_engine> engine_;
  operation* op_;
};

/// Inside a handler of exceptions.
inline auto current_message() -> std::string {
  try {
    throw;
  } catch (std::exception const& e) {
    return e.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

inline void allocation_engine::perform(operation& op, allocation_action action) {
  while (true) {
    if (action.claim != claim_end::keep) {
      if (action.claim == claim_end::settle && action.result == outcome::allocated && !op.fsm.claiming() && allocates(op)) {
        record_allocated(*op.answer.server, op.report);
      }
      end_sharing(op, fate_of(action));
      end_claim(op, action.claim);
    }
    if (action.withdraw_write && op.cancel) op.cancel->withdraw.emit(boost::asio::cancellation_type::terminal);
    if (action.complete) {
      tell(op, action);
      if (op.fsm.claiming()) keep_outstanding(op);
    }
    switch (action.step) {
      case allocation_step::pick:
        if (op.dry_run ? decide_for(op) : pick_for(op, action)) continue;
        return;
      case allocation_step::update: return form(op);
      case allocation_step::read:
        if (send_read(op, action)) return;
        continue;
      case allocation_step::sleep:
        // Nobody is left to wait for: the claim stays off the market until something newer is seen.
        if (closed_ && !op.fsm.has_caller()) {
          end_sharing(op, shared_fate::unknown);
          index_.discard(op.handle);
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

// Most come last; who was parked for a server comes from before them all.
inline auto place_by_arrival(operation_queue& queue, operation const& op) noexcept -> operation_queue::iterator {
  if (!queue.empty() && queue.front().number > op.number) return queue.begin();
  auto at = queue.end();
  while (at != queue.begin() && std::prev(at)->number > op.number) --at;
  return at;
}

// It may be cancelled or run out of time here as anywhere.
inline void allocation_engine::enqueue(operation& op, operation_queue& queue) {
  bool const for_write = &queue == &waiting_ || &queue == &urgent_;
  queue.insert(for_write ? place_by_arrival(queue, op) : queue.end(), op);
  op.in_queue = &queue;
  wakes_.set(op, op.deadline);
}

// There is a write left, and nobody who came earlier waits for one.
inline auto allocation_engine::may_write(operation const& op) -> bool {
  auto const& line = line_for(op);
  return writes_ < options_.max_writes && (line.empty() || line.front().number > op.number);
}

// What became free is theirs who are parked and came earlier; those who came later find the operation in front of them in its line.
// False: it stands in a queue.
inline auto allocation_engine::waiters_first(operation& op) -> bool {
  if (parked_.empty() || waking_) return true;
  auto& line = line_for(op);
  enqueue(op, line);
  auto const more = index_.drain();
  wake_parked();
  bool const unsure = more && !parked_.empty();  // not all that changed is known yet
  if (!unsure && (writes_ >= options_.max_writes || &line.front() != &op)) return false;
  line.erase(line.iterator_to(op));
  op.in_queue = nullptr;
  if (!unsure) return true;
  enqueue(op, building_);
  return false;
}

// There is no server for it, and none on its way back.
inline auto allocation_engine::nothing_for(operation& op) -> allocation_action {
  if (!allocates(op)) return op.fsm.none(now_);
  auto const waits = op.fsm.would_wait(now_);
  if (options_.on_exhausted && !op.waits) options_.on_exhausted(*op.request, waits_);
  if (!waits || op.waits) return op.fsm.none(now_);
  if (waits_ >= options_.max_waiting || !index_.has_room_to_watch(*op.request, options_.max_waiting_alike)) {
    return op.fsm.known(outcome::contention, options_.overload_retry_after);
  }
  op.waits = true;
  ++waits_;
  waits_changed_ = true;
  return op.fsm.none(now_);
}

// True: `action` is what to do next. False: the operation waits for its turn.
inline auto allocation_engine::pick_for(operation& op, allocation_action& action) -> bool {
  if (op.claim) {
    switch (look_up(op, action)) {
      case claim_turn::go_on: break;
      case claim_turn::wait: return false;
      case claim_turn::answered: return true;
    }
  }
  if (!may_write(op)) return enqueue(op, line_for(op)), false;
  if (!waiters_first(op)) return false;
  // A server that is about to be written may be the one to choose as it will be: only what goes before it is taken instead.
  auto shapes = std::numeric_limits<std::size_t>::max();
  auto* const leader = joinable(op, shapes);
  pick taken;
  auto const status = op.gate && !op.gate->avoid.empty() ? pick_another(op, taken, shapes)
                                                         : index_.pick_and_claim(*op.request, random_, taken, shapes);
  switch (status) {
    case pick_status::building: return enqueue(op, building_), false;
    case pick_status::busy:
    case pick_status::none:
      if (leader != nullptr) return join(op, *leader, shapes), false;
      action = status == pick_status::busy ? op.fsm.busy(now_) : nothing_for(op);
      return true;
    case pick_status::picked: break;
  }
  ++writes_;
  op.handle = taken.handle;
  op.base = std::move(taken.server);
  op.selector = taken.selector;
  if (op.claim) op.claim->game_confirms = taken.game_confirms;
  op.try_started = now_;
  action = op.fsm.picked(now_);
  return true;
}

// The same for a dry run: what was claimed is free again before anybody else can look. False: it is done or waits.
inline auto allocation_engine::decide_for(operation& op) -> bool {
  pick taken;
  allocation_action action;
  action.complete = true;
  if (op.room != nullptr) return look_for(op, action);
  switch (index_.pick_and_claim(*op.request, random_, taken)) {
    case pick_status::building: return enqueue(op, building_), false;
    case pick_status::busy: action.result = outcome::contention; break;
    case pick_status::none: action.result = outcome::exhausted; break;
    case pick_status::picked:
      op.handle = taken.handle;
      op.base = std::move(taken.server);
      op.selector = taken.selector;
      try {
        op.answer.server = desired_of(op);
        action.result = outcome::allocated;
      } catch (std::exception const&) {  // for want of memory
        action.result = outcome::unavailable;
      }
      index_.put_back(op.handle);
      break;
  }
  tell(op, action);
  release(op);
  return false;
}

inline auto allocation_engine::look_for(operation& op, allocation_action& action) -> bool {
  auto& room = *op.room;
  if (!index_.look(*op.request, op.room_names, room)) return enqueue(op, building_), false;
  room.remaining = explain(op.request);
  bool const busy = std::any_of(room.selectors.begin(), room.selectors.end(), [](auto const& one) { return one.in_flight != 0; });
  action.result = room.fits != 0 ? outcome::allocated : busy ? outcome::contention : outcome::exhausted;
  tell(op, action);
  release(op);
  return false;
}

inline void allocation_engine::draw_stamp(operation& op) {
  // A write is recognised by its stamp, so it must be its own: within one reading of the clock, and among
  // replicas whose clocks agree. The nanoseconds are drawn, the microseconds are true.
  auto const drawn = wall() + std::chrono::nanoseconds{static_cast<std::int64_t>(random_.below(1000))};
  // So far behind the last stamp, somebody has set the clock back: stamps do not stay ahead until it has caught up.
  bool const set_back = drawn + std::chrono::seconds{1} < last_stamp_;
  last_stamp_ = op.stamp = set_back ? drawn : std::max(drawn, last_stamp_ + std::chrono::nanoseconds{1});
}

// What the allocation makes of the claimed server.
inline auto allocation_engine::desired_of(operation& op) -> std::shared_ptr<game_server> {
  auto desired = copy_of(*op.base);
  if (!op.fsm.repeats()) {
    draw_stamp(op);
    put_into(op, *op.base, *desired);
    return desired;
  }
  // The same again, with all who are in it.
  put_into(op, *op.base, *desired);
  for (auto& one : op.joiners) put_into_shared(one, *desired);
  desired->meta.annotations.set(keys::last_allocated_annotation, rfc3339_nano(op.stamp));  // should the last of them have left
  return desired;
}

// Into what others are in already.
inline void allocation_engine::put_into_shared(operation& op, game_server& server) {
  if (!op.claim) return put_into(op, server, server);
  auto const before = server;
  put_into(op, before, server);
}

// Applies the allocation to the server, with the operation's stamp and a claim of its own. What a claim undoes is the difference to `before`.
inline void allocation_engine::put_into(operation& op, game_server const& before, game_server& server) {
  if (ports_.gate != nullptr && put_pending(op, server)) return;
  auto const& spec = op.request->allocation().spec;
  if (!op.claim) {
    op.report = apply_allocation(server, spec, op.request->gates(), op.stamp);
    return;
  }
  op.report = apply_allocation(server, spec, op.request->gates(), op.stamp);
  auto& part = *op.claim;
  bool const patches = part.game_confirms || !spec.metadata.labels.empty() || !spec.metadata.annotations.empty();
  bool const only = write_claim(server, before, {part.id, part.digest, expiry_of(op), patches}, op.stamp, op.stamp - options_.claims.remember);
  part.written = only ? server.meta.annotations : string_map{};
}

inline auto allocation_engine::expiry_of(operation const& op) -> std::optional<wall_time> {
  return op.claim->ttl ? std::optional{op.stamp + *op.claim->ttl} : std::nullopt;
}

inline auto allocation_engine::update_of(operation const& op, std::shared_ptr<game_server> desired) -> update_request {
  update_request request{op.base, std::move(desired), std::nullopt, false};
  // Whoever is told already does not end a write that is to be seen through.
  if (op.fsm.has_caller() && op.deadline != timer::time_point::max()) request.deadline = op.deadline;
  request.may_take_over = true;
  return request;
}

// True: an answer will come. False: `action` is what to do next. What fails before the store is asked is a write
// that was not applied. A store that throws may have written: unknown, unless it kept the handler to answer yet.
inline auto allocation_engine::send_update(operation& op, allocation_action& action) -> bool {
  auto answer = write_answer::not_applied;
  auto sent = false;
  try {
    auto desired = op.ledger ? std::move(op.ledger) : allocates(op) ? desired_of(op) : changed_claim(op, action);
    if (desired == nullptr) return false;
    auto request = update_of(op, std::move(desired));
    sent = true;
    wakes_.set(op, op.fsm.sent().until);
    op.what = engine_message::kind::update_answer;
    answer_to_engine back{shared_from_this(), op};
    answer = write_answer::unknown;
    if (op.cancel) {
      auto const slot = op.cancel->withdraw.slot();
      store_.async_update(std::move(request), boost::asio::bind_cancellation_slot(slot, std::move(back)));
    } else {
      store_.async_update(std::move(request), std::move(back));
    }
    return true;
  } catch (...) {
    if (!sent) op.fsm.sent();
    if (answer == write_answer::unknown && !op.dropped.load()) return true;
    op.ec = answer == write_answer::unknown ? errc::outcome_unknown : errc::unavailable;
    op.answer = {};
    try {  // memory may be short: better no word of it than a claim that never ends
      op.answer.server_message = current_message();
      note_attempt(op, answer);
    } catch (...) {
    }
    action = op.fsm.update_done(answer, now_, random_.unit());
    return false;
  }
}

// The same for a read.
inline auto allocation_engine::send_read(operation& op, allocation_action& action) -> bool {
  auto asked = false;
  try {
    wakes_.set(op, action.until);
    op.what = engine_message::kind::read_answer;
    answer_to_engine back{shared_from_this(), op};
    auto key = key_of(op.base->meta);
    asked = true;
    store_.async_read(std::move(key), std::move(back));
    return true;
  } catch (...) {
    if (asked && !op.dropped.load()) return true;
    op.ec = errc::unavailable;
    op.answer = {};
    action = op.fsm.read_done(read_answer::failed, now_, random_.unit());
    return false;
  }
}

inline auto allocation_engine::judge_read_of(operation const& op) const -> read_answer {
  if (op.ec) return op.ec == condition::gone ? read_answer::gone : read_answer::failed;
  if (op.answer.server == nullptr) return read_answer::failed;
  if (op.claim && op.claim->what != claim_purpose::allocate) return judge_claim_of(op, *op.answer.server);
  // The gate may have written since; or another replica, for another request with this id.
  if (op.pending && op.answer.server->meta.uid == op.base->meta.uid) {
    auto const claim = find_claim(*op.answer.server, op.pending->id);
    if (claim && (!op.claim || claim->digest == op.claim->digest)) return read_answer::applied;
  }
  auto const stamp = op.stamp == timer::wall_time{} ? std::string{} : rfc3339_nano(op.stamp);
  return judge_read(*op.base, stamp, *op.answer.server);
}

inline void allocation_engine::end_claim(operation& op, claim_end how) {
  switch (how) {
    case claim_end::keep: return;
    case claim_end::put_back: index_.put_back(op.handle); break;
    case claim_end::settle:
      if (ports_.observer != nullptr) ports_.observer->stored(op.answer.server);
      if (op.claim && !op.claim->written.empty()) {
        auto const& part = *op.claim;
        written_claim const own{part.written, {part.id, part.digest, op.stamp, expiry_of(op)}, part.id, part.hash};
        index_.settle(op.handle, op.answer.server, &own);
      } else {
        index_.settle(op.handle, op.answer.server);
      }
      break;
    case claim_end::remove: index_.remove(op.handle); break;
    case claim_end::refresh: return refresh(op);
  }
  --writes_;
}

// A conflict: what was claimed is stale. Unless the fresh value is known already, it is read in the background
// under the same claim, so that others see the server as busy, not as absent.
inline void allocation_engine::refresh(operation& op) {
  if (op.answer.server != nullptr) return end_claim(op, claim_end::settle);
  auto const newest = cache_.find(key_of(op.base->meta));
  std::unique_ptr<operation> reading;
  if (!closed_ && (newest == nullptr || !is_newer(*newest, *op.base))) {
    reading.reset(new (std::nothrow) operation{
        operation::handler_type{}, op.request, allocation_fsm{*retry_, options_.limits, timer::time_point::max()}});
  }
  if (reading == nullptr) {
    index_.discard(op.handle);
    --writes_;
    return;
  }
  reading->handle = op.handle;
  reading->base = op.base;
  all_.push_back(*reading);
  auto& released = *reading.release();
  keep_outstanding(released);
  perform(released, released.fsm.start_refresh());
}

inline void allocation_engine::park(operation& op) {
  if (op.parked) return;
  op.parked = true;
  parked_.emplace(op.number, &op);
  index_.watch(*op.request, op.number, op.fsm.is_patient());
}

inline void allocation_engine::unpark(operation& op) {
  if (!op.parked) return;
  op.parked = false;
  parked_.erase(op.number);
  index_.unwatch(op.number);
}

// Nobody waits for it, yet its claim needs the cache and the store.
inline void allocation_engine::keep_outstanding(operation& op) {
  op.counted = true;
  outstanding_.fetch_add(1, std::memory_order_relaxed);
}

inline void allocation_engine::release(operation& op) {
  if (op.counted) outstanding_.fetch_sub(1, std::memory_order_relaxed);
  leave_claim(op);
  unpark(op);
  if (op.waits) {
    --waits_;
    waits_changed_ = true;
  }
  wakes_.remove(op);
  if (op.in_queue != nullptr) op.in_queue->erase(op.in_queue->iterator_to(op));
  all_.erase(all_.iterator_to(op));
  op.ledger.reset();
  if (op.cancel) op.cancel->of = nullptr;
  delete &op;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
