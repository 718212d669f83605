#pragma once

#include <agones_alloc/select/defaults.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL void apply_defaults(game_server_selector& selector, feature_gates gates) {
  if (!selector.game_server_state) selector.game_server_state = to_string(game_server_state::ready);
  if (gates.player_allocation_filter && !selector.players) selector.players.emplace();
  if (gates.counts_and_lists) {
    if (!selector.counters) selector.counters.emplace();
    if (!selector.lists) selector.lists.emplace();
  }
}

AGONES_ALLOC_DECL void apply_defaults(game_server_allocation& gsa, feature_gates gates) {
  auto& spec = gsa.spec;
  if (spec.scheduling.empty()) spec.scheduling = "Packed";
  if (spec.priorities) {
    for (auto& wanted : *spec.priorities) {
      if (wanted.order.empty()) wanted.order = "Ascending";
    }
  }
  if (!spec.selectors.empty()) {
    for (auto& selector : spec.selectors) apply_defaults(selector, gates);
    return;
  }
  apply_defaults(spec.required, gates);
  for (auto& selector : spec.preferred) apply_defaults(selector, gates);
}

AGONES_ALLOC_DECL void convert_deprecated(allocation_spec& spec) {
  if (!spec.selectors.empty()) return;
  spec.selectors = spec.preferred;
  spec.selectors.push_back(spec.required);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
