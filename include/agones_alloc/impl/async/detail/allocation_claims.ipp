#pragma once

#include <agones_alloc/async/detail/allocation_engine.hpp>
#include <agones_alloc/async/detail/drawn_id.hpp>
#include <agones_alloc/async/readiness_gate.hpp>
#include <agones_alloc/cache/index/claim_book.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline auto allocation_engine::claim_problems(allocate_options const& call) -> field_errors {
  field_errors out;
  if (!call.request_id.empty()) {
    if (auto const problem = request_id_problem(call.request_id); !problem.empty()) {
      out.push_back({field_error_type::invalid, "options.request_id", go_quoted(call.request_id.view().substr(0, 64)), problem});
    }
  }
  constexpr auto most = std::chrono::hours{24 * 365};
  if (call.claim_ttl && (*call.claim_ttl <= std::chrono::nanoseconds{0} || *call.claim_ttl > most)) {
    out.push_back({field_error_type::invalid, "options.claim_ttl", std::to_string(call.claim_ttl->count()) + "ns",
                   "must be positive, and a year at most"});
  }
  return out;
}

inline auto allocation_engine::wall() -> timer::wall_time {
  if (wall_ == timer::wall_time::min()) wall_ = std::chrono::floor<std::chrono::microseconds>(timer_.wall_now());
  return wall_;
}

// One operation for an id at a time: the others stand behind it, and begin when it has ended.
inline auto allocation_engine::lead(operation& op, allocation_action& action) -> claim_turn {
  auto& part = *op.claim;
  if (part.leads) return claim_turn::go_on;
  if (part.id.empty()) {
    part.identify(part.ns, drawn_id(random_));
    part.drawn = true;
  }
  auto const [at, first] = by_id_.try_emplace(part.name(), &op);
  if (first) {
    part.leads = true;
    return claim_turn::go_on;
  }
  auto& other = *at->second;
  if (part.what == claim_purpose::allocate && other.claim->what == claim_purpose::allocate && part.digest != other.claim->digest) {
    return refuse_id(op, action);
  }
  enqueue(op, other.claim->followers);
  return claim_turn::wait;
}

inline auto allocation_engine::refuse_id(operation& op, allocation_action& action) -> claim_turn {
  op.claim->misused = true;
  action = op.fsm.known(outcome::invalid);
  return claim_turn::answered;
}

// The server that has the claim, by all that has been seen; null: none. A server that is being written for somebody else may have
// got the claim from another replica meanwhile, which is not in the book yet.
inline auto allocation_engine::holder_of(claim_part const& part) -> game_server_ptr {
  if (part.what == claim_purpose::expire) {
    // This one, and not another server with the same id, as two replicas may have made.
    auto server = cache_.read(part.slot).server;
    return server != nullptr && find_claim(*server, part.id) ? server : nullptr;
  }
  if (auto const slot = index_.slot_of_claim(part.ns, part.id, part.hash)) {
    auto server = cache_.read(*slot).server;
    if (server != nullptr && find_claim(*server, part.id)) return server;
  }
  if (auto server = cache_.newer_than_claimed(part.ns, part.id)) return server;
  return ports_.gate != nullptr ? ports_.gate->find(part.ns, part.id) : nullptr;
}

// Before a server is picked for an operation with an id: is the answer there already?
inline auto allocation_engine::look_up(operation& op, allocation_action& action) -> claim_turn {
  // What the book says is only as good as what the index has taken in.
  if (index_.drain()) return enqueue(op, building_), claim_turn::wait;
  if (auto const turn = lead(op, action); turn != claim_turn::go_on) return turn;
  auto& part = *op.claim;
  auto const server = holder_of(part);
  auto const claim = server != nullptr ? find_claim(*server, part.id) : std::nullopt;
  if (part.what == claim_purpose::allocate) {
    if (!claim || claim->made < wall() - options_.claims.remember) return claim_turn::go_on;
    if (claim->digest != part.digest) return refuse_id(op, action);
    part.repeated = true;
    op.answer.server = server;
    action = op.fsm.known(outcome::allocated);
    return claim_turn::answered;
  }
  if (!claim) {
    action = op.fsm.known(outcome::exhausted);
    return claim_turn::answered;
  }
  // A pending one is the gate's to confirm and to release.
  if (part.what == claim_purpose::find || (part.what != claim_purpose::expire && is_pending(*server))) {
    op.answer.server = server;
    action = op.fsm.known(outcome::allocated);
    return claim_turn::answered;
  }
  op.request = target_request(*server);
  return claim_turn::go_on;
}

// The server that has the claim, and no other.
inline auto allocation_engine::target_request(game_server const& server) -> request_ptr {
  game_server_allocation wanted;
  wanted.meta.namespace_ = server.meta.namespace_;
  auto& selector = wanted.spec.selectors.emplace_back();
  selector.game_server_state = to_string(game_server_state::allocated);
  choice_options choice;
  choice.target = target_server{server.meta.name, server.meta.uid, true};
  return std::get<request_ptr>(allocation_request::make(std::move(wanted), {}, std::move(choice)));
}

// What a confirmation or a release writes; null: there is nothing to write, and `action` is what to do next.
inline auto allocation_engine::changed_claim(operation& op, allocation_action& action) -> std::shared_ptr<game_server> {
  auto& part = *op.claim;
  auto const now = find_claim(*op.base, part.id);
  auto const over = part.what == claim_purpose::expire && now && (!now->expires || *now->expires != part.expires);
  if (!now || over) {
    action = op.fsm.nothing_to_write(outcome::exhausted);
    return nullptr;
  }
  auto desired = std::make_shared<game_server>(*op.base);
  if (part.what == claim_purpose::confirm) {
    confirm_claim(*desired, part.id);
    if (*desired == *op.base) {
      op.answer.server = op.base;
      action = op.fsm.nothing_to_write(outcome::allocated);
      return nullptr;
    }
  } else {
    part.not_undone = release_claim(*desired, part.id, part.to).value_or(release_report{});
  }
  return desired;
}

// Of an object that was read back after a write whose answer was lost.
inline auto allocation_engine::judge_claim_of(operation const& op, game_server const& now) -> read_answer {
  if (now.meta.uid != op.base->meta.uid) return read_answer::gone;
  if (now.meta.resource_version == op.base->meta.resource_version) return read_answer::untouched;
  auto const claim = find_claim(now, op.claim->id);
  auto const done = op.claim->what == claim_purpose::confirm ? claim && !claim->expires : !claim;
  return done ? read_answer::applied : read_answer::superseded;
}

// Who stood behind it begins anew: it finds the claim, or makes one.
inline void allocation_engine::leave_claim(operation& op) {
  if (!op.claim || !op.claim->leads) return;
  by_id_.erase(by_id_.find(op.claim->name()));
  while (!op.claim->followers.empty()) {
    auto& next = dequeue(op.claim->followers);
    building_.push_back(next);
    next.in_queue = &building_;
  }
}

/// Later ones first: a heap's front is the earliest.
inline auto is_due_later(due_claim const& a, due_claim const& b) noexcept -> bool { return a.when > b.when; }

inline void allocation_engine::expect_expiry(expiring_claim what, std::chrono::nanoseconds in) {
  due_.push_back({now_ + std::max(in, std::chrono::nanoseconds{0}), std::move(what)});
  std::push_heap(due_.begin(), due_.end(), is_due_later);
}

// The wall clock is looked at once for each claim, when it is first seen: should it be set afterwards, no claim ends early.
inline void allocation_engine::sweep() {
  if (closed_) return;
  if (index_.claims().has_expiring()) {
    std::vector<expiring_claim> fresh;
    index_.claims().take_expiring(fresh);
    if (!options_.claims.sweep) return;
    for (auto& one : fresh) {
      auto const left = one.expires - wall();
      expect_expiry(std::move(one), left);
    }
  }
  while (!due_.empty() && due_.front().when <= now_) {
    std::pop_heap(due_.begin(), due_.end(), is_due_later);
    auto const what = std::move(due_.back().what);
    due_.pop_back();
    end_expired(what);
  }
}

inline void allocation_engine::end_expired(expiring_claim const& what) {
  auto const server = cache_.read(what.slot).server;
  if (server == nullptr) return;
  auto const claim = find_claim(*server, what.id);
  if (!claim || !claim->expires || *claim->expires != what.expires) return;
  constexpr auto patience = std::chrono::seconds{30};
  auto op = std::make_unique<operation>(operation::handler_type{}, request_ptr{},
                                        allocation_fsm{*retry_, options_.limits, now_ + patience});
  op->claim = std::make_unique<claim_part>();
  op->claim->what = claim_purpose::expire;
  op->claim->identify(server->meta.namespace_, what.id);
  op->claim->expires = what.expires;
  op->claim->slot = what.slot;
  op->claim->to = options_.claims.expired_to;
  op->started = now_;
  op->deadline = now_ + patience;
  op->number = ++arrivals_;
  all_.push_back(*op);
  auto& begun = *op.release();
  keep_outstanding(begun);
  perform(begun, begun.fsm.start(now_));
}

// Of an expiry nobody is told; what failed is tried again.
inline void allocation_engine::note_expiry(operation& op, outcome result) {
  auto& part = *op.claim;
  if (result == outcome::allocated) {
    if (ports_.counts != nullptr) ports_.counts->claim_expired();
    report_release(op, "ClaimExpired");
    return;
  }
  if (result == outcome::exhausted || closed_) return;  // confirmed or released meanwhile
  expect_expiry({part.slot, part.id, part.expires}, std::chrono::seconds{1});
}

inline void allocation_engine::report_release(operation& op, char const* reason) {
  if (ports_.events == nullptr || op.answer.server == nullptr) return;
  std::string text = "claim " + op.claim->id.str() + " ended";
  for (auto const& line : op.claim->not_undone) text += "; not undone: " + line;
  ports_.events->record(*op.answer.server, op.claim->not_undone.empty() ? recorder::type::normal : recorder::type::warning, reason, text);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
