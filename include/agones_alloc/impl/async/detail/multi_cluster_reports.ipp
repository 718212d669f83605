#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/detail/multi_cluster_core.hpp>
#include <agones_alloc/flow/attempts_text.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

AGONES_ALLOC_DECL void multi_cluster_core::finish(operation_ptr const& op, outcome result) {
  auto const kept = op;
  operations_.erase(kept.get());
  --outstanding_;
  rest_if_idle();
  allocation_result out;
  // What the last call knows is part of the end only if that is how it ended.
  if (kept->last.result == result || result == outcome::unknown) out = std::move(kept->last);
  out.result = result;
  out.multi_cluster = true;
  out.attempts = std::move(kept->local_attempts);
  auto const& attempts = kept->fsm.attempts();
  switch (result) {
    case outcome::unavailable:
      out.server_code = 0;
      out.server_message = attempts.empty() ? std::string{"no cluster available: every policy's weight is 0"}
                                            : "no cluster available: " + attempts_text(attempts);
      break;
    case outcome::contention: out.retry_after = kept->fsm.retry_after(); break;
    case outcome::unknown:
      if (out.server == nullptr) {
        out.server_message = "request id " + kept->request.request_id + "; " + attempts_text(attempts);
      }
      break;
    case outcome::deadline:
    case outcome::cancelled: out.server_message = attempts_text(attempts); break;
    case outcome::exhausted: out.remaining = std::move(kept->remaining); break;
    case outcome::allocated:
    case outcome::invalid:
    case outcome::refused: break;
  }
  std::copy(attempts.begin(), attempts.end(), std::back_inserter(out.attempts));
  report(*kept, out);
  auto const ec = error_of(result);
  complete(own_, std::move(kept->done), ec, std::move(out));
}

// A request counts once: what this cluster's allocator has handed out it has counted itself, on whose fleet.
AGONES_ALLOC_DECL void multi_cluster_core::report(cluster_operation const& op, allocation_result const& result) {
  if (result.result == outcome::unknown && ports_.log != nullptr && !op.fsm.endpoint().empty()) {
    ports_.log->log(severity::warning, "a remote allocation was sent and its fate is not known",
                    {{"cluster", op.fsm.at().identity},
                     {"endpoint", op.fsm.endpoint().view()},
                     {"request_id", op.request.request_id}});
  }
  bool const here = op.fsm.calls() != 0 && op.fsm.endpoint().empty();
  if (ports_.counts == nullptr || (here && result.result == outcome::allocated)) return;
  allocation_sample sample;
  sample.result = result.result;
  if (result.server != nullptr) sample.fleet = result.server->meta.labels.value_or_empty(keys::fleet_label);
  sample.cluster = op.fsm.at().identity;
  sample.scheduling = op.request.request->allocation().spec.scheduling.view();
  sample.multi_cluster = true;
  sample.tries = op.fsm.calls();
  sample.took = time_.now() - op.started;
  ports_.counts->allocation(sample);
}

AGONES_ALLOC_DECL void multi_cluster_core::note_changes(cluster_operation const* op) {
  for (auto const& change : memory_.take_changes()) {
    bool const closed = change.now == breaker_state::closed;
    if (!closed && op != nullptr && remote_.can_probe()) watch(*op, change);
    if (ports_.counts != nullptr) ports_.counts->cluster_breaker(change.cluster, change.endpoint, !closed);
    if (ports_.log == nullptr) continue;
    ports_.log->log(closed ? severity::info : severity::warning,
                    closed ? "an endpoint answers again" : "an endpoint does not answer; it is left alone for a while",
                    {{"cluster", change.cluster}, {"endpoint", change.endpoint}});
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
