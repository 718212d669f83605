#pragma once

#include <agones_alloc/grpc/information_messages.hpp>
#include <agones_alloc/impl/grpc/information_messages.ipp>

#include <agones_alloc_proto/information.pb.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::message {

template <class Sums>
auto read_sum(::information::FleetInformation::Capacity const& from) -> Sums {
  Sums out;
  out.allocated_count = from.allocatedcount();
  out.allocated_capacity = from.allocatedcapacity();
  out.count = from.count();
  out.capacity = from.capacity();
  if constexpr (requires { out.free; }) out.free = from.free();
  return out;
}

template <class Sums, class Map>
auto read_sums(Map const& from) -> named_map<Sums> {
  named_map<Sums> out;
  for (auto const& [name, one] : from) out.emplace(name, read_sum<Sums>(one));
  return out;
}

template <class Repeated>
auto read_label_list(Repeated const& from) -> string_map {
  std::vector<string_map::value_type> out;
  for (auto const& one : from) out.emplace_back(one.key(), one.value());
  return string_map{std::move(out)};
}

/// What nanoseconds can hold, and a cluster can mean; else the beginning of time.
inline auto read_wall_time(google::protobuf::Timestamp const& from) -> fleet_info::wall_time {
  constexpr std::int64_t last = 9'000'000'000;
  if (from.seconds() < 0 || from.seconds() >= last) return {};
  return fleet_info::wall_time{std::chrono::seconds{from.seconds()} + std::chrono::nanoseconds{std::clamp(from.nanos(), 0, 999'999'999)}};
}

inline auto read_recount(::information::FleetInformation::Recount const& from) -> fleet_recount {
  fleet_recount out;
  out.total = from.totalgameservers();
  out.shutting_down = from.shuttingdowngameservers();
  for (auto const& [word, count] : from.states()) {
    auto const state = word == no_state ? game_server_state::unset : game_server_state_from(word);
    auto& sum = out.states[static_cast<std::size_t>(state)];
    using limits = std::numeric_limits<std::int32_t>;
    sum = static_cast<std::int32_t>(std::clamp<std::int64_t>(std::int64_t{sum} + count, limits::min(), limits::max()));
  }
  if (from.states().empty()) {  // an older one
    auto const put = [&out](game_server_state state, std::int32_t count) { out.states[static_cast<std::size_t>(state)] = count; };
    put(game_server_state::ready, from.readygameservers());
    put(game_server_state::reserved, from.reservedgameservers());
    put(game_server_state::allocated, from.allocatedgameservers());
    put(game_server_state::allocating, from.allocatinggameservers());
  }
  out.counters = read_sums<capacity_info>(from.counters());
  out.lists = read_sums<capacity_info>(from.lists());
  if (from.has_players()) out.players = read_sum<capacity_info>(from.players());
  for (auto const& [name, share] : from.nodes()) {
    out.nodes.push_back({name, share.totalgameservers(), share.readygameservers(), share.allocatedgameservers()});
  }
  std::sort(out.nodes.begin(), out.nodes.end(), [](node_share const& a, node_share const& b) { return a.node < b.node; });
  return out;
}

inline auto read_status(::information::FleetInformation const& from) -> fleet_status {
  fleet_status out;
  out.replicas = from.totalgameservers();
  out.ready_replicas = from.readygameservers();
  out.reserved_replicas = from.reservedgameservers();
  out.allocated_replicas = from.allocatedgameservers();
  out.counters = read_sums<aggregated_capacity>(from.counters());
  out.lists = read_sums<aggregated_capacity>(from.lists());
  if (from.has_players()) {
    auto& players = out.players.emplace();
    players.count = from.players().count();
    players.capacity = from.players().capacity();
  }
  return out;
}

}  // namespace detail::message

AGONES_ALLOC_DECL auto message_to_fleet(::information::FleetInformation const& from) -> std::optional<fleet_info> {
  if (from.fleetname().empty()) return std::nullopt;
  fleet_info out;
  out.cluster = from.clustername();
  out.namespace_ = from.namespace_();
  out.name = from.fleetname();
  out.uid = from.uid();
  out.resource_version = from.resourceversion();
  out.generation = from.generation();
  out.labels = detail::message::read_label_list(from.labels());
  out.annotations = detail::message::read_label_list(from.annotations());
  out.scheduling = from.scheduling();
  if (from.has_desiredgameservers()) out.desired = from.desiredgameservers();
  if (!from.uid().empty()) out.status = detail::message::read_status(from);
  if (from.has_recount()) out.recount = detail::message::read_recount(from.recount());
  out.observed = detail::message::read_wall_time(from.observedtime());
  out.stale = from.stale();
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
