#pragma once

#include <agones_alloc/json/detail/read_rest.hpp>
#include <agones_alloc/json/rest.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

/// The name of a known number, else that of 0: Packed, Counter, Ascending.
inline auto word_of(rest_enum const& value) -> shared_string { return value.names[value.number == 1 ? 1 : 0]; }

inline auto to_model(rest_selector&& from, feature_gates gates) -> game_server_selector {
  game_server_selector out;
  out.labels.match_labels = std::move(from.match_labels);
  for (auto& one : from.match_expressions) out.labels.match_expressions.push_back(std::move(one.requirement));
  if (from.state.number == 0) out.game_server_state = "Ready";
  if (from.state.number == 1) out.game_server_state = "Allocated";
  if (gates.player_allocation_filter && from.players) out.players = from.players->selector;
  if (gates.counts_and_lists) {
    out.counters = std::move(from.counters);
    out.lists = std::move(from.lists);
  }
  return out;
}

inline auto to_model(std::vector<rest_selector>&& from, feature_gates gates) -> std::vector<game_server_selector> {
  std::vector<game_server_selector> out;
  out.reserve(from.size());
  for (auto& selector : from) out.push_back(to_model(std::move(selector), gates));
  return out;
}

inline auto to_model(std::vector<rest_priority> const& from) -> std::vector<priority> {
  std::vector<priority> out;
  out.reserve(from.size());
  for (auto const& one : from) out.push_back({word_of(one.type), one.key, word_of(one.order)});
  return out;
}

inline auto to_model(rest_request&& from, feature_gates gates) -> game_server_allocation {
  game_server_allocation out;
  out.kind = "GameServerAllocation";
  out.api_version = "allocation.agones.dev/v1";
  out.meta.namespace_ = std::move(from.namespace_);
  auto& spec = out.spec;
  spec.multi_cluster.enabled = from.multi_cluster.enabled;
  spec.multi_cluster.policy_selector.match_labels = std::move(from.multi_cluster.policy_selector.match_labels);
  if (from.required) spec.required = to_model(*std::move(from.required), gates);
  spec.preferred = to_model(std::move(from.preferred), gates);
  spec.selectors = to_model(std::move(from.selectors), gates);
  spec.scheduling = word_of(from.scheduling);
  spec.metadata = from.metadata ? *std::move(from.metadata) : std::move(from.old_metadata);
  if (gates.counts_and_lists) {
    if (!from.priorities.empty()) spec.priorities = to_model(from.priorities);
    if (!from.counters.empty()) spec.counters = std::move(from.counters);
    if (!from.lists.empty()) spec.lists = std::move(from.lists);
  }
  return out;
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto rest_request_to_allocation(boost::json::value const& value, feature_gates gates,
                                                  json_read_options const& options) -> decoded<game_server_allocation> {
  auto request = detail::wire::run_reader<detail::wire::rest_request>(
      options,
      [&](detail::wire::reader& in, detail::wire::place const& at, auto& out) {
        detail::wire::read_value(in, at, value, out);
      },
      detail::wire::dialect::proto);
  if (!request) return std::move(request).error();
  return detail::wire::to_model(*std::move(request), gates);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
