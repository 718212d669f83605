#pragma once

#include <agones_alloc/grpc/messages.hpp>
#include <agones_alloc/json/detail/forwarded_labels.hpp>
#include <agones_alloc/json/detail/place.hpp>

#include <agones_alloc_proto/allocation.pb.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

// The older names of fields are read and written for older clients and servers.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::message {

template <class Map>
auto labels_of(Map const& from) -> string_map {
  std::vector<string_map::value_type> out;
  out.reserve(from.size());
  for (auto const& [key, value] : from) out.emplace_back(key, value);
  return string_map{std::move(out)};
}

template <class Repeated>
auto words_of(Repeated const& from) -> std::vector<shared_string> {
  std::vector<shared_string> out;
  out.reserve(static_cast<std::size_t>(from.size()));
  for (auto const& one : from) out.emplace_back(one);
  return out;
}

inline auto patch_of(::allocation::MetaPatch const& from) -> meta_patch {
  return {labels_of(from.labels()), labels_of(from.annotations())};
}

/// A number that means nothing is a word that does not validate: what is dropped would match more.
inline auto operator_of(int number) -> shared_string {
  return ::allocation::LabelMatchExpressions_Operator_IsValid(number)
             ? shared_string{::allocation::LabelMatchExpressions_Operator_Name(number)}
             : shared_string{std::to_string(number)};
}

inline auto selector_of(::allocation::GameServerSelector const& from, feature_gates gates) -> game_server_selector {
  game_server_selector out;
  out.labels.match_labels = labels_of(from.matchlabels());
  for (auto const& one : from.matchexpressions()) {
    out.labels.match_expressions.push_back({shared_string{one.key()}, operator_of(one.operator_()), words_of(one.values())});
  }
  if (from.gameserverstate() == ::allocation::GameServerSelector::READY) out.game_server_state = "Ready";
  if (from.gameserverstate() == ::allocation::GameServerSelector::ALLOCATED) out.game_server_state = "Allocated";
  if (gates.player_allocation_filter && from.has_players()) {
    out.players = player_selector{static_cast<std::int64_t>(from.players().minavailable()),
                                  static_cast<std::int64_t>(from.players().maxavailable())};
  }
  if (!gates.counts_and_lists) return out;
  auto& counters = out.counters.emplace();
  for (auto const& [name, one] : from.counters()) {
    counters[shared_string{name}] = {one.mincount(), one.maxcount(), one.minavailable(), one.maxavailable()};
  }
  auto& lists = out.lists.emplace();
  for (auto const& [name, one] : from.lists()) {
    lists[shared_string{name}] = {shared_string{one.containsvalue()}, one.minavailable(), one.maxavailable()};
  }
  return out;
}

inline auto action_of(::allocation::CounterAction const& from) -> counter_action {
  counter_action out;
  if (from.has_action()) out.action = shared_string{from.action().value()};
  if (from.has_amount()) out.amount = from.amount().value();
  if (from.has_capacity()) out.capacity = from.capacity().value();
  return out;
}

inline auto action_of(::allocation::ListAction const& from) -> list_action {
  list_action out{words_of(from.addvalues()), words_of(from.deletevalues()), std::nullopt};
  if (from.has_capacity()) out.capacity = from.capacity().value();
  return out;
}

inline void read_counts(::allocation::AllocationRequest const& from, allocation_spec& out) {
  for (auto const& one : from.priorities()) {
    if (!out.priorities) out.priorities.emplace();
    out.priorities->push_back({one.type() == ::allocation::Priority::List ? "List" : "Counter", shared_string{one.key()},
                               one.order() == ::allocation::Priority::Descending ? "Descending" : "Ascending"});
  }
  for (auto const& [name, one] : from.counters()) {
    if (!out.counters) out.counters.emplace();
    (*out.counters)[shared_string{name}] = action_of(one);
  }
  for (auto const& [name, one] : from.lists()) {
    if (!out.lists) out.lists.emplace();
    (*out.lists)[shared_string{name}] = action_of(one);
  }
}

}  // namespace detail::message

AGONES_ALLOC_DECL auto message_to_allocation(::allocation::AllocationRequest const& from, feature_gates gates)
    -> game_server_allocation {
  game_server_allocation out;
  out.kind = "GameServerAllocation";
  out.api_version = "allocation.agones.dev/v1";
  out.meta.namespace_ = from.namespace_();
  auto& spec = out.spec;
  spec.multi_cluster.enabled = from.multiclustersetting().enabled();
  spec.multi_cluster.policy_selector.match_labels =
      detail::message::labels_of(from.multiclustersetting().policyselector().matchlabels());
  if (from.has_requiredgameserverselector()) {
    spec.required = detail::message::selector_of(from.requiredgameserverselector(), gates);
  }
  for (auto const& one : from.preferredgameserverselectors()) {
    spec.preferred.push_back(detail::message::selector_of(one, gates));
  }
  for (auto const& one : from.gameserverselectors()) spec.selectors.push_back(detail::message::selector_of(one, gates));
  spec.scheduling = from.scheduling() == ::allocation::AllocationRequest::Distributed ? "Distributed" : "Packed";
  spec.metadata = detail::message::patch_of(from.has_metadata() ? from.metadata() : from.metapatch());
  if (gates.counts_and_lists) detail::message::read_counts(from, spec);
  return out;
}

namespace detail::message {

template <class Map>
void write_labels(string_map const& from, Map& out) {
  for (auto const& [key, value] : from) out[std::string{key}] = std::string{value};
}

inline void write_expression(label_requirement const& from, ::allocation::LabelMatchExpressions& out) {
  auto op = ::allocation::LabelMatchExpressions::In;
  (void)::allocation::LabelMatchExpressions_Operator_Parse(from.op.str(), &op);  // validated before
  out.set_key(from.key.str());
  out.set_operator_(op);
  for (auto const& value : from.values) out.add_values(value.str());
}

inline void write_patch(meta_patch const& from, ::allocation::MetaPatch& out) {
  write_labels(from.labels, *out.mutable_labels());
  write_labels(from.annotations, *out.mutable_annotations());
}

inline auto write_selector(game_server_selector const& from, wire::place const& at, feature_gates gates, bool expressions,
                           ::allocation::GameServerSelector& out) -> std::optional<decode_error> {
  label_selector labels;
  if (auto problem = wire::forwarded_labels(from.labels, at, expressions, labels)) return problem;
  write_labels(labels.match_labels, *out.mutable_matchlabels());
  for (auto const& one : labels.match_expressions) write_expression(one, *out.add_matchexpressions());
  if (from.game_server_state && *from.game_server_state == "Allocated") {
    out.set_gameserverstate(::allocation::GameServerSelector::ALLOCATED);
  }
  if (gates.player_allocation_filter && from.players) {
    out.mutable_players()->set_minavailable(static_cast<std::uint64_t>(from.players->min_available));
    out.mutable_players()->set_maxavailable(static_cast<std::uint64_t>(from.players->max_available));
  }
  if (!gates.counts_and_lists) return std::nullopt;
  if (from.counters) {
    for (auto const& [name, one] : *from.counters) {
      auto& to = (*out.mutable_counters())[name.str()];
      to.set_mincount(one.min_count);
      to.set_maxcount(one.max_count);
      to.set_minavailable(one.min_available);
      to.set_maxavailable(one.max_available);
    }
  }
  if (from.lists) {
    for (auto const& [name, one] : *from.lists) {
      auto& to = (*out.mutable_lists())[name.str()];
      to.set_containsvalue(one.contains_value.str());
      to.set_minavailable(one.min_available);
      to.set_maxavailable(one.max_available);
    }
  }
  return std::nullopt;
}

inline void write_counts(allocation_spec const& from, ::allocation::AllocationRequest& out) {
  if (from.priorities) {
    for (auto const& one : *from.priorities) {
      auto& to = *out.add_priorities();
      to.set_type(one.type == "List" ? ::allocation::Priority::List : ::allocation::Priority::Counter);
      to.set_key(one.key.str());
      to.set_order(one.order == "Descending" ? ::allocation::Priority::Descending : ::allocation::Priority::Ascending);
    }
  }
  if (from.counters) {
    for (auto const& [name, one] : *from.counters) {
      auto& to = (*out.mutable_counters())[name.str()];
      if (one.action) to.mutable_action()->set_value(one.action->str());
      if (one.amount) to.mutable_amount()->set_value(*one.amount);
      if (one.capacity) to.mutable_capacity()->set_value(*one.capacity);
    }
  }
  if (from.lists) {
    for (auto const& [name, one] : *from.lists) {
      auto& to = (*out.mutable_lists())[name.str()];
      for (auto const& value : one.add_values) to.add_addvalues(value.str());
      for (auto const& value : one.delete_values) to.add_deletevalues(value.str());
      if (one.capacity) to.mutable_capacity()->set_value(*one.capacity);
    }
  }
}

}  // namespace detail::message

AGONES_ALLOC_DECL auto allocation_to_message(game_server_allocation const& gsa, ::allocation::AllocationRequest& out,
                                             feature_gates gates, message_forward_options const& forward)
    -> std::optional<decode_error> {
  auto const& spec = gsa.spec;
  out.Clear();
  out.set_namespace_(forward.namespace_.empty() ? gsa.meta.namespace_.str() : std::string{forward.namespace_});
  auto const root = detail::wire::place::root("spec");
  auto& clusters = *out.mutable_multiclustersetting();
  if (spec.multi_cluster.enabled && !forward.disable_multi_cluster) {
    clusters.set_enabled(true);
    label_selector labels;
    auto const at = detail::wire::place::root("spec.multiClusterSetting.policySelector");
    if (auto problem = detail::wire::forwarded_labels(spec.multi_cluster.policy_selector, at, false, labels)) return problem;
    detail::message::write_labels(labels.match_labels, *clusters.mutable_policyselector()->mutable_matchlabels());
  }
  auto const list = root.member("selectors");
  for (std::size_t i = 0; i < spec.selectors.size(); ++i) {
    auto& to = *out.add_gameserverselectors();
    if (auto problem = detail::message::write_selector(spec.selectors[i], list.element(i), gates, forward.match_expressions, to)) {
      return problem;
    }
    // For old servers: the last of them, the others are preferred.
    if (i + 1 == spec.selectors.size()) {
      *out.mutable_requiredgameserverselector() = to;
    } else {
      *out.add_preferredgameserverselectors() = to;
    }
  }
  if (spec.scheduling == "Distributed") out.set_scheduling(::allocation::AllocationRequest::Distributed);
  detail::message::write_patch(spec.metadata, *out.mutable_metadata());
  detail::message::write_patch(spec.metadata, *out.mutable_metapatch());
  if (gates.counts_and_lists) detail::message::write_counts(spec, out);
  return std::nullopt;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#pragma GCC diagnostic pop
