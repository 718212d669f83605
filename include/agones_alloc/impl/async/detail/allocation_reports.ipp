#pragma once

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/detail/allocation_engine.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline void allocation_engine::tell(operation& op, allocation_action const& action) {
  if (op.cancel) op.cancel->of = nullptr;
  if (op.claim && op.claim->what == claim_purpose::expire) return note_expiry(op, action.result);
  bool const to_gate = goes_to_gate(op, action.result);
  told_.emplace_back(to_gate ? at_gate(op) : std::move(op.handler), error_of(action.result));
  auto& result = told_.back().result;
  result.result = action.result;
  result.tries = op.fsm.tries();
  result.retry_after = action.retry_after;
  result.attempts = std::move(op.attempts);
  switch (action.result) {
    case outcome::allocated:
      result.server = op.answer.server;
      result.selector = op.selector;
      result.source = local_;
      result.counter_errors = std::move(op.report.counter_errors);
      result.list_errors = std::move(op.report.list_errors);
      break;
    case outcome::unknown:
      result.server = op.base;
      result.selector = op.selector;
      result.source = local_;
      result.server_message = op.answer.server_message;
      log_unknown(op, "the fate of a write is not known yet");
      break;
    case outcome::exhausted:
      if (options_.breakdown && allocates(op)) result.remaining = explain(op.request);
      break;
    case outcome::refused:
    case outcome::unavailable:
    case outcome::contention:
      result.server_message = op.answer.server_message;
      result.server_code = op.answer.server_code;
      break;
    case outcome::invalid:
    case outcome::cancelled:
    case outcome::deadline: break;
  }
  if (op.claim) tell_of_claim(op, told_.back());
  if (ports_.counts == nullptr || op.dry_run || !allocates(op)) return;
  if (result.server != nullptr && is_pending(*result.server)) return;  // not at its end
  if (op.tentative_since && action.result != outcome::allocated) return;
  allocation_sample sample;
  sample.result = action.result;
  // The server as it was: a request may put any fleet's name on the one it gets.
  if (auto const& from = op.base ? op.base : result.server) sample.fleet = from->meta.labels.value_or_empty(keys::fleet_label);
  sample.scheduling = op.request->allocation().spec.scheduling.view();
  sample.tries = result.tries;
  sample.multi_cluster = op.tentative_since || op.request->allocation().spec.multi_cluster.enabled;
  sample.took = now_ - op.tentative_since.value_or(op.started);
  ports_.counts->allocation(sample);
}

inline void allocation_engine::tell_of_claim(operation& op, told& said) {
  auto& part = *op.claim;
  auto& result = said.result;
  if (part.misused) {
    result.errors.push_back({field_error_type::invalid, "options.request_id", go_quoted(part.id.view().substr(0, 64)),
                             "was used for another request"});
  }
  if (result.result == outcome::allocated || result.result == outcome::unknown) result.claim = part.id;
  result.repeated = part.repeated;
  // Somebody else's write for this id is under way: nobody can say that no server was taken for it.
  auto const leader = part.leads ? by_id_.end() : by_id_.find(part.name());
  if (leader != by_id_.end() && leader->second->fsm.claiming() && (result.result == outcome::deadline || result.result == outcome::cancelled)) {
    result.result = outcome::unknown;
    result.server = leader->second->base;
    result.claim = part.id;
    said.ec = error_of(result.result);
  }
  if (allocates(op)) return;
  if (result.result == outcome::exhausted) {
    result.remaining = nullptr;
    said.ec = errc::not_found;
  }
  if (result.result != outcome::allocated || part.what != claim_purpose::release || is_pending(*result.server)) return;
  report_release(op, "ClaimReleased");
  result.not_undone = std::move(part.not_undone);
}

inline void allocation_engine::report_index() {
  index_due_ = now_ + std::chrono::seconds{1};
  auto const known = index_.statistics();
  ports_.counts->index_size({known.views, known.entries, known.label_sets, known.nodes});
  for (; lost_claims_ != known.lost_claims; ++lost_claims_) ports_.counts->claim_lost();
}

inline void allocation_engine::note_attempt(operation& op, write_answer answer) {
  if (!op.fsm.has_caller()) return;
  attempt failed;
  failed.server = key_of(op.base->meta);
  failed.message = op.answer.server_message.empty() ? op.ec.message() : op.answer.server_message.str();
  failed.took = now_ - op.try_started;
  switch (answer) {
    case write_answer::applied:
    case write_answer::conflict:
    case write_answer::gone: failed.result = outcome::contention; break;
    case write_answer::refused: failed.result = outcome::refused; break;
    case write_answer::not_applied: failed.result = outcome::unavailable; break;
    case write_answer::cancelled: failed.result = outcome::cancelled; break;
    case write_answer::unknown: failed.result = outcome::unknown; break;
  }
  op.attempts.push_back(std::move(failed));
}

// Spec 7, step 8: on the updated object, in this order.
inline void allocation_engine::record_allocated(game_server const& server, action_report const& report) {
  if (ports_.events == nullptr) return;
  auto const joined = [](std::vector<std::string> const& lines) {
    std::string text;
    for (auto const& line : lines) text += text.empty() ? line : "\n" + line;
    return text;
  };
  if (!report.counter_errors.empty()) {
    ports_.events->record(server, recorder::type::warning, "CounterActionError", joined(report.counter_errors));
  }
  if (!report.list_errors.empty()) {
    ports_.events->record(server, recorder::type::warning, "ListActionError", joined(report.list_errors));
  }
  if (is_pending(server)) return record_pending(server);
  ports_.events->record(server, recorder::type::normal, "Allocated", "Allocated");
}

// A storm of requests that nothing matches is answered from memory: equal requests share one breakdown for a while. Where many
// kinds of them come, looking takes a tenth of the time, and what is told is older: a look may cost as much as a hundred allocations.
inline auto allocation_engine::explain(request_ptr const& request) -> std::shared_ptr<breakdown const> {
  constexpr std::size_t most = 1024;
  constexpr int of_the_time = 10;
  if (options_.breakdown_age.count() == 0) return std::make_shared<breakdown const>(index_.explain(*request));
  auto const key = shapes_key(*request);
  if (auto const at = explained_.find(key); at != explained_.end()) {
    auto const& known = at->second;
    bool const alike = known.request == request || known.request->shapes() == request->shapes();
    if (alike && (now_ - known.at <= options_.breakdown_age || now_ < explained_again_)) return known.what;
  }
  auto const began = timer_.now();
  auto made = std::make_shared<breakdown const>(index_.explain(*request));
  auto const ended = timer_.now();
  explained_again_ = ended + (of_the_time - 1) * (ended - began);
  if (explained_.size() >= most && !explained_.contains(key)) {
    explained_.erase(std::min_element(explained_.begin(), explained_.end(),
                                      [](auto const& a, auto const& b) { return a.second.at < b.second.at; }));
  }
  explained_.insert_or_assign(key, explained{request, now_, made});
  return made;
}

inline void allocation_engine::log_unknown(operation const& op, char const* what) {
  if (ports_.log == nullptr) return;
  auto const server = to_string(key_of(op.base->meta));
  ports_.log->log(severity::warning, what, {{"server", server}, {"error", op.ec.message()}});
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
