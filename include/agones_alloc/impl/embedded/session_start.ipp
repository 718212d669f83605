#pragma once

#include <agones_alloc/embedded/fleet_simulator.hpp>
#include <agones_alloc/flow/pending.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// The simulated game is asked whether players can join: it answers where the gate looks for it, or, where that is a port that nobody
/// listens on, by the SDK's Allocate.
AGONES_ALLOC_DECL auto fleet_simulator::answer_gate(std::uint32_t slot) -> std::optional<simulator_action> {
  auto& s = servers_[slot];
  auto const marker = find_pending(*s.known);
  if (s.answered || !marker) {
    set_timer(slot, std::nullopt);
    return std::nullopt;
  }
  auto const& settings = settings_of(s);
  bool const failed = settings.session_start_failure > 0 && random_.unit() < settings.session_start_failure;
  auto desired = *s.known;
  if (failed) {
    // Of a gate that does not look for it, the process itself tells.
    if (marker->gate.source == gate_source::watch) {
      desired.meta.annotations.set(marker->gate.key, "failed");
    } else {
      desired.status.state = game_server_state::unhealthy;
    }
  } else {
    switch (marker->gate.source) {
      case gate_source::watch: desired.meta.annotations.set(marker->gate.key, marker->id); break;
      case gate_source::counter: {
        auto& counter = desired.status.counters[marker->gate.key];
        counter.capacity = std::max(counter.capacity, marker->gate.at_least);
        counter.count = std::max(counter.count, marker->gate.at_least);
        break;
      }
      case gate_source::http:
      case gate_source::tcp:
      case gate_source::webhook:
      case gate_source::sse:
      case gate_source::grpc:
        desired.status.state = game_server_state::allocated;
        desired.meta.labels.erase(keys::allocating_label);
        break;
    }
  }
  s.answered = true;
  s.writing = true;
  return simulator_action{simulator_action::kind::update, s.known, std::make_shared<game_server const>(std::move(desired)), slot, s.ticket};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
