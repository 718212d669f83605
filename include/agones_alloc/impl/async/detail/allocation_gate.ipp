#pragma once

#include <agones_alloc/async/detail/allocated_simply.hpp>
#include <agones_alloc/async/detail/allocation_engine.hpp>
#include <agones_alloc/async/detail/drawn_id.hpp>
#include <agones_alloc/async/detail/gate_core.hpp>
#include <agones_alloc/async/detail/gated_call.hpp>
#include <agones_alloc/async/readiness_gate.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// So that the end of the wait, and its write, come before the caller's time is up.
inline auto pending_time(std::chrono::nanoseconds wanted, std::chrono::nanoseconds left) noexcept -> std::chrono::nanoseconds {
  using namespace std::chrono;
  auto const margin = std::clamp<nanoseconds>(left / 10, milliseconds{20}, seconds{1});
  return std::clamp<nanoseconds>(left - margin, nanoseconds{0}, wanted);
}

inline auto allocation_engine::is_pending(game_server const& server) const noexcept -> bool {
  return ports_.gate != nullptr && has_pending(server);
}

/// What carries a server on that is to be pending for this operation; null: its gate is off.
inline auto marker_for(gate_core& gate, operation const& op, game_server const& server, std::string_view asked, timer::time_point now,
                       random_source& random) -> std::unique_ptr<pending_marker> {
  auto settings = gate.choose(server, asked);
  if (!settings.enabled) return nullptr;
  auto marker = std::make_unique<pending_marker>();
  marker->id = op.claim ? op.claim->id.str() : drawn_id(random);
  marker->since = op.stamp;
  bool const waits = !op.gate || !op.gate->async;
  auto const from = std::chrono::floor<std::chrono::microseconds>(op.stamp);  // the rest of it is drawn
  marker->deadline = from + (waits ? pending_time(settings.timeout, op.deadline - now) : settings.timeout);
  marker->owner = gate.owner();
  if (settings.source == gate_source::webhook) marker->token = gate.draw_token();
  if (op.claim) marker->claim_ttl = op.claim->ttl;
  for (auto& claim : claims_of(server)) {
    if (claim.id != marker->id) marker->older.push_back(std::move(claim.id));
  }
  marker->gate = std::move(settings);
  return marker;
}

inline void apply_pending(operation& op, game_server& server, std::chrono::nanoseconds remember) {
  auto const before = server;
  op.report = apply_allocation(server, op.request->allocation().spec, op.request->gates(), op.stamp);
  // By its claim it is undone, and found by others.
  claim_terms const terms{shared_string{op.pending->id}, op.claim ? op.claim->digest : request_digest(*op.request), std::nullopt};
  write_claim(server, before, terms, op.stamp, op.stamp - remember);
  begin_pending(server, *op.pending);
}

// The allocation's first write, where a gate is on. False: there is none, and the server is Allocated by it. What most calls go through is
// kept small.
inline auto allocation_engine::put_pending(operation& op, game_server& server) -> bool {
  // One that is Allocated already has players; and a dry run shows what the end will be.
  if (op.dry_run || server.status.state != game_server_state::ready) return false;
  if (!op.fsm.repeats()) {
    op.pending.reset();
    auto& gate = *ports_.gate->core();
    auto const asked = op.gate ? std::string_view{op.gate->text} : std::string_view{};
    if (!gate.may_choose(server, asked)) return false;
    op.pending = marker_for(gate, op, server, asked, now_, random_);
  }
  if (!op.pending) return false;
  apply_pending(op, server, options_.claims.remember);
  return true;
}

// None of those that were tried before, unless there is no other.
inline auto allocation_engine::pick_another(operation const& op, pick& taken, std::size_t shapes) -> pick_status {
  auto const& avoided = op.gate->avoid;
  std::vector<pick> passed;
  auto status = pick_status::none;
  while (true) {
    pick next;
    status = index_.pick_and_claim(*op.request, random_, next, shapes);
    if (status != pick_status::picked) break;
    bool const avoid = std::find(avoided.begin(), avoided.end(), key_of(next.server->meta)) != avoided.end();
    if (!avoid) {
      taken = std::move(next);
      break;
    }
    passed.push_back(std::move(next));
  }
  if (status != pick_status::picked && status != pick_status::building && !passed.empty()) {
    taken = std::move(passed.front());
    passed.erase(passed.begin());
    status = pick_status::picked;
  }
  for (auto const& one : passed) index_.put_back(one.handle);
  return status;
}

inline auto allocation_engine::goes_to_gate(operation const& op, outcome result) const noexcept -> bool {
  if (!op.gated) return false;
  return op.pending != nullptr || (result == outcome::allocated && op.answer.server != nullptr && is_pending(*op.answer.server));
}

// The call goes on there, from what this operation came to.
inline auto allocation_engine::at_gate(operation& op) -> operation::handler_type {
  allocate_options call;
  if (op.claim && !op.claim->drawn) call.request_id = op.claim->id;
  if (op.claim) call.claim_ttl = op.claim->ttl;
  call.deadline = op.deadline;
  call.tentative_since = op.tentative_since;
  call.gate = op.gate;
  auto const next = std::make_shared<gated_call>(shared_from_this(), ports_.gate->core(), std::move(call), std::move(op.handler));
  next->begin(op.request, op.started, op.fsm.wait_until(), op.cancel != nullptr);
  if (op.cancel) {
    op.cancel->hand_over(next);
    if (op.cancel->requested.load()) next->cancel();  // while its write was under way
  }
  return operation::handler_type{
      allocated_simply([next](error_code, allocation_result result) { next->tried(std::move(result)); })};
}

inline void allocation_engine::record_pending(game_server const& server) {
  auto const until = server.meta.annotations.value_or_empty(keys::pending_id_annotation);
  ports_.events->record(server, recorder::type::normal, "Allocating",
                        "allocation " + std::string{until} + " waits until the game server is ready");
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
