#pragma once

#include <agones_alloc/async/detail/allocation_engine.hpp>
#include <agones_alloc/detail/saturating.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// In one write: each is told by itself, and decides anew by itself when the write fails.
inline constexpr std::size_t most_joiners = 255;

/// An allocation leaves its server Allocated: only who takes such servers can share one.
inline auto takes_allocated(allocation_request const& request) noexcept -> bool {
  return std::any_of(request.shapes().begin(), request.shapes().end(), [](view_shape const& shape) {
    return shape.selector.state != game_server_state::ready;
  });
}

/// True when every action of the request changes the server by all that it says. What is not plain does not count as fitting.
inline auto fits(allocation_spec const& spec, game_server const& server) -> bool {
  if (spec.counters) {
    for (auto const& [name, wanted] : *spec.counters) {
      if (!wanted.action || !wanted.amount || wanted.capacity) return false;
      auto const at = server.status.counters.find(name);
      if (at == server.status.counters.end()) return false;
      auto const room = *wanted.action == "Decrement" ? at->second.count : saturating_sub(at->second.capacity, at->second.count);
      if (room < *wanted.amount) return false;
    }
  }
  if (spec.lists) {
    for (auto const& [name, wanted] : *spec.lists) {
      if (wanted.capacity || !wanted.delete_values.empty()) return false;
      auto const at = server.status.lists.find(name);
      if (at == server.status.lists.end()) return false;
      auto const room = saturating_sub(at->second.capacity, at->second.count());
      if (room < static_cast<std::int64_t>(wanted.add_values.size())) return false;
    }
  }
  return true;
}

// Its write goes out at the end of the turn: until then others may come in.
inline void allocation_engine::form(operation& op) {
  forming_.push_back(op);
  op.in_queue = &forming_;
  // One that is repeated must stay as it was.
  if (allocates(op) && !op.fsm.repeats() && !op.request->target() && takes_allocated(*op.request)) leaders_[shapes_key(*op.request)] = &op;
}

inline void allocation_engine::send_forming() {
  while (!forming_.empty()) {
    offer_to_waiters(forming_.front());
    auto& op = dequeue(forming_);
    close_to_joiners(op);
    allocation_action action;
    if (op.fsm.has_caller() && op.cancel && op.cancel->requested.load()) {
      action = op.fsm.cancel(now_);
    } else if (send_update(op, action)) {
      continue;
    }
    perform(op, action);
    land();
  }
}

// Its write is on its way, or will not be made.
inline void allocation_engine::close_to_joiners(operation& leader) {
  if (leaders_.empty() || leader.request == nullptr) return;
  auto const at = leaders_.find(shapes_key(*leader.request));
  if (at != leaders_.end() && at->second == &leader) leaders_.erase(at);
}

// Those who wait for this server may be content with it as it will be. The oldest first, until one does not fit.
inline void allocation_engine::offer_to_waiters(operation& leader) {
  if (parked_.empty() || leader.request == nullptr || !allocates(leader) || waking_) return;
  auto const at = leaders_.find(shapes_key(*leader.request));
  if (at == leaders_.end() || at->second != &leader) return;
  waking_ = true;
  auto const& shapes = leader.request->shapes();
  auto index = shapes.size() - 1;
  while (leader.request->selector_of(index) != leader.selector) --index;
  auto const& shape = shapes[index];
  for (auto joined = leader.joiners.size();; joined = leader.joiners.size()) {
    auto const token = index_.take_waiter(shape);
    if (!token) break;
    auto const parked = parked_.find(*token);
    if (parked == parked_.end()) continue;
    auto& op = *parked->second;
    parked_.erase(parked);
    op.parked = false;
    auto const answered = told_.size();
    perform(op, op.fsm.woken(now_));
    // One that has its answer already, by its id, is not in anybody's way.
    if (leader.joiners.size() == joined && told_.size() == answered) break;
  }
  waking_ = false;
}

// The write that the operation may join, if no shape before `shape_index` has a free server.
inline auto allocation_engine::joinable(operation& op, std::size_t& shape_index) -> operation* {
  if (leaders_.empty() || !allocates(op) || op.request->target()) return nullptr;
  auto const find = [&]() -> operation* {
    auto const at = leaders_.find(shapes_key(*op.request));
    return at == leaders_.end() || at->second == &op ? nullptr : at->second;
  };
  // Whoever waits for this server came earlier.
  if (auto* const first = find()) offer_to_waiters(*first);
  auto* const leader = find();
  if (leader == nullptr || leader->joiners.size() >= most_joiners) return nullptr;
  auto const& shapes = op.request->shapes();
  if (leader->request != op.request && leader->request->shapes() != shapes) return nullptr;
  try {
    if (!leader->ledger) leader->ledger = desired_of(*leader);
    auto const& server = *leader->ledger;
    auto const shape = std::find_if(shapes.begin(), shapes.end(), [&](view_shape const& s) { return matches(s.selector, server); });
    if (shape == shapes.end() || !fits(op.request->allocation().spec, server)) return nullptr;
    shape_index = static_cast<std::size_t>(shape - shapes.begin());
    return leader;
  } catch (std::bad_alloc const&) {
    return nullptr;  // it can do without
  }
}

inline void allocation_engine::join(operation& op, operation& leader, std::size_t shape_index) {
  draw_stamp(op);
  if (op.claim) op.claim->game_confirms = true;  // what others have put on the server is not known here
  put_into_shared(op, *leader.ledger);
  if (op.claim) leader.fsm.see_it_through();  // it is to be found by its id
  leader.stamp = op.stamp;  // by which the write is known
  op.base = leader.base;
  op.selector = static_cast<std::uint32_t>(op.request->selector_of(shape_index));
  op.try_started = now_;
  op.fsm.join();
  enqueue(op, leader.joiners);
}

inline auto fate_of(allocation_action const& action) noexcept -> shared_fate {
  auto const settled = action.claim == claim_end::settle;
  if (settled && action.result == outcome::allocated) return shared_fate::applied;
  if (action.result == outcome::unknown) return shared_fate::unknown;
  // Nothing was wrong with the write: its leader left before it was sent, or was refused for itself.
  return action.complete ? shared_fate::left : shared_fate::lost;
}

// The leader's claim ends: those in its write share its fate.
inline void allocation_engine::end_sharing(operation& leader, shared_fate fate) {
  leader.ledger.reset();
  close_to_joiners(leader);
  while (!leader.joiners.empty()) {
    auto& op = dequeue(leader.joiners);
    op.fate = fate;
    op.answer.server = leader.answer.server;
    landed_.push_back(op);
    op.in_queue = &landed_;
  }
}

// Not at once in end_sharing: whoever goes through the operations must find them there.
inline void allocation_engine::land() {
  while (!landed_.empty()) {
    auto& op = dequeue(landed_);
    if (op.fate == shared_fate::applied) record_allocated(*op.answer.server, op.report);
    perform(op, op.fsm.join_ended(op.fate, now_, random_.unit()));
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
