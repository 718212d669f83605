#pragma once

#include <agones_alloc/grpc/information_messages.hpp>
#include <agones_alloc/model/selector.hpp>
#include <agones_alloc/select/match.hpp>

#include <agones_alloc_proto/information.pb.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::message {

/// The most bytes that a selector may have, as over HTTP.
inline constexpr std::size_t longest_fleet_selector = 4096;

inline void write_time(fleet_info::wall_time from, google::protobuf::Timestamp& to) {
  auto const seconds = std::chrono::floor<std::chrono::seconds>(from);
  to.set_seconds(seconds.time_since_epoch().count());
  to.set_nanos(static_cast<std::int32_t>((from - seconds).count()));
}

template <class Repeated>
void write_label_list(string_map const& from, Repeated& out) {
  for (auto const& [key, value] : from) {
    auto& to = *out.Add();
    to.set_key(std::string{key});
    to.set_value(std::string{value});
  }
}

template <class Sums>
void write_sum(Sums const& from, ::information::FleetInformation::Capacity& to) {
  to.set_allocatedcount(from.allocated_count);
  to.set_allocatedcapacity(from.allocated_capacity);
  to.set_count(from.count);
  to.set_capacity(from.capacity);
  if constexpr (requires { from.free; }) to.set_free(from.free);
}

template <class Sums, class Map>
void write_sums(named_map<Sums> const& from, Map& out) {
  for (auto const& [name, one] : from) write_sum(one, out[name.str()]);
}

inline constexpr std::string_view no_state = "Unset";

inline void write_recount(fleet_recount const& from, fleet_info_parts parts, ::information::FleetInformation::Recount& to) {
  to.set_totalgameservers(from.total);
  to.set_readygameservers(from.in(game_server_state::ready));
  to.set_reservedgameservers(from.in(game_server_state::reserved));
  to.set_allocatedgameservers(from.in(game_server_state::allocated));
  to.set_allocatinggameservers(from.in(game_server_state::allocating));
  to.set_shuttingdowngameservers(from.shutting_down);
  write_sums(from.counters, *to.mutable_counters());
  write_sums(from.lists, *to.mutable_lists());
  for (std::size_t i = 0; i != from.states.size(); ++i) {
    if (from.states[i] == 0) continue;
    auto const word = to_string(static_cast<game_server_state>(i));
    (*to.mutable_states())[std::string{word.empty() ? no_state : word}] = from.states[i];
  }
  if (from.players) write_sum(*from.players, *to.mutable_players());
  if (!parts.nodes) return;
  for (auto const& one : from.nodes) {
    auto& share = (*to.mutable_nodes())[one.node.str()];
    share.set_totalgameservers(one.total);
    share.set_readygameservers(one.ready);
    share.set_allocatedgameservers(one.allocated);
  }
}

inline void write_status(fleet_status const& from, ::information::FleetInformation& to) {
  to.set_totalgameservers(from.replicas);
  to.set_readygameservers(from.ready_replicas);
  to.set_reservedgameservers(from.reserved_replicas);
  to.set_allocatedgameservers(from.allocated_replicas);
  write_sums(from.counters, *to.mutable_counters());
  write_sums(from.lists, *to.mutable_lists());
  if (!from.players) return;
  to.mutable_players()->set_count(from.players->count);
  to.mutable_players()->set_capacity(from.players->capacity);
}

}  // namespace detail::message

AGONES_ALLOC_DECL void fleet_to_message(fleet_info const& from, fleet_info_parts parts, ::information::FleetInformation& out) {
  out.set_clustername(from.cluster.str());
  out.set_namespace_(from.namespace_.str());
  out.set_fleetname(from.name.str());
  out.set_uid(from.uid.str());
  out.set_resourceversion(from.resource_version.str());
  out.set_generation(from.generation);
  out.set_scheduling(from.scheduling.str());
  detail::message::write_label_list(from.labels, *out.mutable_labels());
  if (parts.annotations) detail::message::write_label_list(from.annotations, *out.mutable_annotations());
  if (from.desired) out.set_desiredgameservers(*from.desired);
  if (from.status) detail::message::write_status(*from.status, out);
  if (from.recount) detail::message::write_recount(*from.recount, parts, *out.mutable_recount());
  detail::message::write_time(from.observed, *out.mutable_observedtime());
  out.set_stale(from.stale);
}

AGONES_ALLOC_DECL void cluster_to_message(cluster_info const& from, ::information::ClusterStatus& out) {
  out.set_clustername(from.name.str());
  out.set_endpoint(from.endpoint.str());
  out.set_code(from.code);
  out.set_message(from.message.str());
  detail::message::write_time(from.observed, *out.mutable_observedtime());
  out.set_stale(from.stale);
}

AGONES_ALLOC_DECL auto query_of_message(::information::InformRequest const& from) -> std::variant<fleet_query, std::string> {
  fleet_query out;
  out.filter.namespace_ = from.namespace_();
  out.filter.cluster = from.clustername();
  out.filter.local_only = !from.multicluster();
  out.parts.annotations = from.withannotations();
  out.parts.nodes = from.withnodes();
  out.resume = from.resumetoken();
  label_selector labels;
  std::vector<string_map::value_type> wanted;
  std::size_t bytes = 0;
  // A map of the message has no order: that of the values is the same for equal requests.
  for (auto const& [key, value] : from.matchlabels()) {
    wanted.emplace_back(key, value);
    bytes += key.size() + value.size();
  }
  labels.match_labels = string_map{std::move(wanted)};
  for (auto const& [key, value] : labels.match_labels) out.shape.append("\n").append(key).append("=").append(value);
  for (auto const& one : from.matchexpressions()) {
    auto& to = labels.match_expressions.emplace_back();
    to.key = one.key();
    to.op = one.operator_();
    out.shape.append("\n").append(one.key()).append(" ").append(one.operator_());
    bytes += one.key().size() + one.operator_().size();
    for (auto const& value : one.values()) {
      to.values.emplace_back(value);
      out.shape.append(" ").append(value);
      bytes += value.size();
    }
  }
  if (bytes > detail::message::longest_fleet_selector) return std::string{"matchLabels, matchExpressions: are longer than 4096 characters"};
  if (auto const problem = compile_labels(labels, out.filter.labels)) return "matchLabels, matchExpressions: " + *problem;
  if (out.parts.annotations) out.shape += "\nannotations";
  if (out.parts.nodes) out.shape += "\nnodes";
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
