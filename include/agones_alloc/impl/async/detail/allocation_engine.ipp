#pragma once

#include <agones_alloc/async/detail/allocation_engine.hpp>
#include <agones_alloc/async/detail/call_deadline.hpp>
#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/detail/gated_call.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

AGONES_ALLOC_DECL allocation_engine::allocation_engine(boost::asio::any_io_executor executor, ready_cache& cache,
                                                       store& writes, timer& time, random_source& random,
                                                       allocator_options options, allocator_ports ports)
    : executor_{std::move(executor)}, own_{executor_}, options_{std::move(options)},
      retry_{options_.retry ? options_.retry : std::make_shared<backoff const>()}, ports_{ports}, cache_{cache},
      store_{writes}, timer_{time}, random_{random}, index_{cache, options_.index} {}

// Nothing but memory: the cache and the ports may be gone when an executor drops what never ran.
AGONES_ALLOC_DECL allocation_engine::~allocation_engine() {
  for (auto* list : {std::exchange(backlog_, nullptr), inbox_.take()}) {
    while (list != nullptr) {
      auto* const m = static_cast<engine_message*>(std::exchange(list, list->next));
      if (m->what == engine_message::kind::start) {
        delete static_cast<operation*>(m);  // not in all_ yet
      } else if (m->what == engine_message::kind::cancel) {
        static_cast<cancel_request*>(m)->in_inbox.reset();
      }
    }
  }
  waiting_.clear();
  urgent_.clear();
  building_.clear();
  forming_.clear();
  landed_.clear();
  for (auto& op : all_) {
    op.joiners.clear();
    if (op.claim) op.claim->followers.clear();
  }
  all_.clear_and_dispose([](operation* op) { delete op; });
}

AGONES_ALLOC_DECL void allocation_engine::listen() {
  cache_.on_change([weak = weak_from_this()] {
    if (auto const self = weak.lock()) self->schedule();
  });
}

// Under load confirmations and releases go before allocations: they free what others wait for.
inline auto allocation_engine::admits(claim_purpose what) noexcept -> bool {
  auto const most = what == claim_purpose::allocate ? options_.max_operations : options_.max_operations + options_.max_operations / 8 + 1;
  if (outstanding_.fetch_add(1, std::memory_order_relaxed) < most) return true;
  outstanding_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

inline auto allocation_engine::overloaded() const -> allocation_result {
  allocation_result full;
  full.result = outcome::contention;
  full.retry_after = options_.overload_retry_after;
  return full;
}

AGONES_ALLOC_DECL void allocation_engine::submit(request_ptr request, allocate_options const& call, bool dry_run,
                                                 operation::handler_type handler, bool gated) {
  if (auto problems = claim_problems(call); !problems.empty()) {
    allocation_result refused;
    refused.result = outcome::invalid;
    refused.errors = std::move(problems);
    return reject(std::move(handler), std::move(refused));
  }
  if (!admits(claim_purpose::allocate)) return reject(std::move(handler), overloaded());
  auto const now = timer_.now();
  auto const deadline = call_deadline(call, now, options_.timeout);
  auto op = std::make_unique<operation>(std::move(handler), std::move(request),
                                        allocation_fsm{*retry_, options_.limits, deadline, call_wait_until(call, now)});
  op->started = now;
  op->deadline = deadline;
  op->dry_run = dry_run;
  op->tentative_since = call.tentative_since;
  op->gate = call.gate;
  op->gated = gated;
  if (dry_run) {
    op->room = call.room;
    op->room_names = call.room_names;
  }
  if (!dry_run && (!call.request_id.empty() || call.claim_ttl)) {
    op->claim = std::make_unique<claim_part>();
    op->claim->identify(op->request->allocation().meta.namespace_, call.request_id);
    op->fsm.see_it_through();
    op->claim->ttl = call.claim_ttl;
    op->claim->digest = request_digest(*op->request);
  }
  submit(std::move(op));
}

AGONES_ALLOC_DECL void allocation_engine::submit(std::unique_ptr<claim_part> part, allocate_options const& call,
                                                 operation::handler_type handler) {
  if (auto const problem = request_id_problem(part->id); !problem.empty()) {
    allocation_result refused;
    refused.result = outcome::invalid;
    refused.errors.push_back({field_error_type::invalid, "id", go_quoted(part->id.view().substr(0, 64)), problem});
    return reject(std::move(handler), std::move(refused));
  }
  if (!admits(part->what)) return reject(std::move(handler), overloaded());
  auto const now = timer_.now();
  auto const deadline = call_deadline(call, now, options_.timeout);
  auto op = std::make_unique<operation>(std::move(handler), request_ptr{},
                                        allocation_fsm{*retry_, options_.limits, deadline});
  op->started = now;
  op->deadline = deadline;
  op->claim = std::move(part);
  submit(std::move(op));
}

// It is outstanding already.
inline void allocation_engine::submit(std::unique_ptr<operation> op) {
  auto slot = boost::asio::get_associated_cancellation_slot(op->handler);
  if (slot.is_connected()) {
    op->cancel = std::make_shared<cancel_request>(weak_from_this(), op.get());
    slot.assign([request_cancel = op->cancel](boost::asio::cancellation_type type) {
      if (type == boost::asio::cancellation_type::none) return;
      if (request_cancel->requested.exchange(true)) return;
      if (auto const call = request_cancel->at_gate()) return call->cancel();
      if (auto const engine = request_cancel->engine.lock()) {
        request_cancel->in_inbox = request_cancel;
        engine->push(*request_cancel);
      }
    });
  }
  push(*op.release());
}

AGONES_ALLOC_DECL void allocation_engine::reject(operation::handler_type handler, allocation_result result) {
  boost::asio::post(executor_, [own = own_, h = std::move(handler), r = std::move(result)]() mutable {
    auto const ec = error_of(r.result);
    complete(own, std::move(h), ec, std::move(r));
  });
}

AGONES_ALLOC_DECL void allocation_engine::close() {
  closing_.store(true);
  schedule();
}

AGONES_ALLOC_DECL void allocation_engine::push(engine_message& m) {
  inbox_.push(m);
  schedule();
}

AGONES_ALLOC_DECL void allocation_engine::schedule() {
  // Most find it scheduled: a look is cheaper than an exchange.
  if (!scheduled_.load() && !scheduled_.exchange(true)) boost::asio::post(executor_, [self = shared_from_this()] { self->turn(); });
}

// Runs however the turn ends, for a caller's handler may throw: no message and no caller is left behind.
struct allocation_engine::end_of_turn {
  allocation_engine& engine;
  bool more{true};
  ~end_of_turn() {
    if (more || engine.next_told_ < engine.told_.size()) {
      boost::asio::post(engine.executor_, [self = engine.shared_from_this()] { self->turn(); });
      return;
    }
    // An exchange, not a store: it sees every push made before the pusher found the turn still scheduled.
    engine.scheduled_.exchange(false);
    auto const closing = engine.closing_.load();
    // Once it closes, and nothing is outstanding, the cache may be gone.
    auto const again = closing ? !engine.closed_ : engine.cache_.changed();
    if (again || !engine.inbox_.empty()) engine.schedule();
  }
};

inline void allocation_engine::turn() {
  end_of_turn end{*this};
  now_ = timer_.now();
  wall_ = timer::wall_time::min();
  auto more = false;
  if (closing_.load() && !closed_) shut();
  more |= handle_messages();
  land();
  if (closed_ && all_.empty()) {
    arm();
    end.more = more;
    return tell_callers();
  }
  more |= follow_index();
  sweep();
  wake_due();
  admit_waiting();
  more |= wake_parked();
  send_forming();
  more |= !parked_.empty() && index_.may_wake();  // a write that was not sent left its server free
  more |= writes_ < options_.max_writes && !(waiting_.empty() && urgent_.empty());
  more |= arm();
  if (ports_.counts != nullptr) {
    if (writes_ != reported_writes_) ports_.counts->in_flight(reported_writes_ = writes_);
    if (std::exchange(waits_changed_, false)) ports_.counts->waiting(waits_, oldest_wait());
    if (now_ >= index_due_) report_index();
  }
  end.more = more || !building_.empty() || !landed_.empty();
  tell_callers();
}

inline auto allocation_engine::handle_messages() -> bool {
  for (std::size_t left = options_.batch; left > 0; --left) {
    if (backlog_ == nullptr) backlog_ = inbox_.take();
    if (backlog_ == nullptr) return false;
    handle(static_cast<engine_message&>(*std::exchange(backlog_, backlog_->next)));
  }
  return backlog_ != nullptr;
}

inline void allocation_engine::handle(engine_message& m) {
  if (m.what == engine_message::kind::cancel) return handle_cancel(static_cast<cancel_request&>(m));
  auto& op = static_cast<operation&>(m);
  if (m.what != engine_message::kind::start) {
    op.ec = op.incoming_ec;
    op.answer = std::exchange(op.incoming, {});
  }
  switch (m.what) {
    case engine_message::kind::start: {
      op.number = ++arrivals_;
      all_.push_back(op);
      auto const leave = closed_ || (op.cancel && op.cancel->requested.load());
      if (leave) return perform(op, op.fsm.cancel(now_));
      if (auto& line = line_for(op); !line.empty()) return enqueue(op, line);
      return perform(op, op.fsm.start(now_));
    }
    case engine_message::kind::update_answer: {
      auto answer = judge_write(op.ec);
      // Acknowledged, but not with the object: what it looks like now has to be read.
      if (answer == write_answer::applied && op.answer.server == nullptr) answer = write_answer::unknown;
      if (answer == write_answer::conflict && ports_.counts != nullptr) ports_.counts->update_conflict();
      if (answer != write_answer::applied) note_attempt(op, answer);
      auto const draw = answer == write_answer::applied ? 0.0 : random_.unit();
      return perform(op, op.fsm.update_done(answer, now_, draw, op.answer.retry_after));
    }
    case engine_message::kind::read_answer: return perform(op, op.fsm.read_done(judge_read_of(op), now_, random_.unit()));
    case engine_message::kind::cancel: return;
  }
}

inline void allocation_engine::handle_cancel(cancel_request& request) {
  auto const keep = std::move(request.in_inbox);
  if (request.of != nullptr) return perform(*request.of, request.of->fsm.cancel(now_));
  if (auto const call = request.at_gate()) call->cancel();  // it came there meanwhile
}

inline auto allocation_engine::dequeue(operation_queue& queue) -> operation& {
  auto& op = queue.front();
  queue.pop_front();
  op.in_queue = nullptr;
  return op;
}

// Takes in what changed, a slice a turn, and goes on with the views that are being built.
inline auto allocation_engine::follow_index() -> bool {
  if (building_.empty()) return index_.drain();
  auto const more = index_.build_some();
  // While other views are unfinished, look at a few only: each look costs a pick.
  auto looks = more ? std::min<std::size_t>(building_.size(), 16) : building_.size();
  for (; looks > 0 && !building_.empty(); --looks) {
    auto& op = dequeue(building_);
    perform(op, op.fsm.start(now_));
  }
  return more || !building_.empty();
}

inline auto allocation_engine::wake_parked() -> bool {
  if (parked_.empty() || std::exchange(waking_, true)) return false;
  struct end {
    bool& waking;
    ~end() { waking = false; }
  } const end_of_waking{waking_};
  for (auto rounds = 0; rounds < 64; ++rounds) {
    woken_.clear();
    index_.take_woken(woken_);
    if (woken_.empty()) return false;
    for (auto const number : woken_) {
      auto const at = parked_.find(number);
      if (at == parked_.end()) continue;
      auto& op = *at->second;
      parked_.erase(at);
      op.parked = false;
      perform(op, op.fsm.woken(now_));
    }
  }
  return true;
}

// Operations are in the order of their arrival; few of those before the first that waits do something else.
inline auto allocation_engine::oldest_wait() const -> timer::time_point {
  if (waits_ == 0) return timer::time_point::max();
  return std::find_if(all_.begin(), all_.end(), [](operation const& op) { return op.waits; })->started;
}

inline void allocation_engine::wake_due() {
  while (auto* const due = wakes_.take_due(now_)) {
    auto& op = static_cast<operation&>(*due);
    perform(op, op.fsm.time_passed(now_));
  }
}

inline void allocation_engine::admit_waiting() {
  while (writes_ < options_.max_writes) {
    auto& line = urgent_.empty() ? waiting_ : urgent_;
    if (line.empty()) return;
    auto& op = dequeue(line);
    perform(op, op.fsm.start(now_));
  }
}

// One wait for all: for the earliest wake. It need not be exact: a turn that finds nothing due arms again. A timer
// is only started when there is still something to wait for two turns later (true: look again), as
// starting and cancelling it takes longer than a whole allocation in a fast store.
inline auto allocation_engine::arm() -> bool {
  constexpr int patience = 2;
  if (waiting_for_time_ && (fired_.load(std::memory_order_acquire) == armed_ || armed_until_ <= now_)) {
    waiting_for_time_ = false;
  }
  auto const next = due_.empty() ? wakes_.next() : std::min(wakes_.next(), due_.front().when);
  auto const nothing = next == timer::time_point::max();
  if (nothing) turns_unarmed_ = 0;
  if (waiting_for_time_) {
    if (!nothing && armed_until_ <= next) return false;
    waiting_for_time_ = false;
    stop_waiting_.emit(boost::asio::cancellation_type::terminal);
  }
  if (nothing) return false;
  if (turns_unarmed_ < patience) return ++turns_unarmed_, true;
  turns_unarmed_ = 0;
  waiting_for_time_ = true;
  armed_until_ = next;
  auto const number = ++armed_;
  timer_.async_wait_until(next, boost::asio::bind_cancellation_slot(
                                    stop_waiting_.slot(), [self = shared_from_this(), number](error_code ec) {
                                      self->note_fired(number);
                                      if (!ec) self->schedule();
                                    }));
  return false;
}

// On a pool, a wait that ended in vain may come after one that was started later: never backwards.
inline void allocation_engine::note_fired(std::uint64_t number) noexcept {
  auto last = fired_.load(std::memory_order_relaxed);
  while (last < number && !fired_.compare_exchange_weak(last, number, std::memory_order_acq_rel)) {
  }
}

// By place: erased handlers of Boost 1.81 cannot be assigned, so nothing is erased in between. A handler that
// throws has been told; the next turn goes on behind it.
inline void allocation_engine::tell_callers() {
  while (next_told_ < told_.size()) {
    auto& next = told_[next_told_++];
    outstanding_.fetch_sub(1, std::memory_order_relaxed);
    complete(own_, std::move(next.handler), next.ec, std::move(next.result));
  }
  told_.clear();
  next_told_ = 0;
}

inline void allocation_engine::shut() {
  closed_ = true;
  due_.clear();
  std::vector<operation*> present;
  present.reserve(all_.size());
  for (auto& op : all_) present.push_back(&op);
  // perform() may release the one it is given, and no other.
  for (auto* const op : present) perform(*op, op->fsm.cancel(now_));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
