#pragma once

#include <agones_alloc/cache/fleet_counts.hpp>
#include <agones_alloc/detail/bring_near.hpp>
#include <agones_alloc/select/pending_mark.hpp>

#include <algorithm>
#include <limits>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Whether capacities count the same, as long as the state does.
inline auto same_capacities(game_server_status const& a, game_server_status const& b) -> bool {
  if (a.counters != b.counters || (a.players == nullptr) != (b.players == nullptr)) return false;
  if (a.players && (a.players->count != b.players->count || a.players->capacity != b.players->capacity)) return false;
  return a.lists.same_block(b.lists) ||
         std::equal(a.lists.begin(), a.lists.end(), b.lists.begin(), b.lists.end(), [](auto const& x, auto const& y) {
    return x.first == y.first && x.second.capacity == y.second.capacity && x.second.count() == y.second.count();
  });
}

inline void count_on(fleet_counts::node_counts& node, game_server_state state, int sign) noexcept {
  node.total += sign;
  if (state == game_server_state::ready) node.ready += sign;
  if (state == game_server_state::allocated) node.allocated += sign;
}

inline auto has_capacities(game_server_status const& status) noexcept -> bool {
  return status.players != nullptr || !status.counters.empty() || !status.lists.empty();
}

}  // namespace detail

AGONES_ALLOC_DECL auto fleet_counts::wide::value() const noexcept -> std::int64_t {
  auto const high = high_ + (low_ >> 32);
  auto const low = low_ & 0xffffffff;
  if (high > std::numeric_limits<std::int32_t>::max()) return std::numeric_limits<std::int64_t>::max();
  if (high < std::numeric_limits<std::int32_t>::min()) return std::numeric_limits<std::int64_t>::min();
  return high * (std::int64_t{1} << 32) + low;
}

AGONES_ALLOC_DECL void fleet_counts::sums::put(std::int64_t count_value, std::int64_t capacity_value,
                                               game_server_state state, int sign) {
  servers += sign;
  count.add(count_value, sign);
  capacity.add(capacity_value, sign);
  put_state(count_value, capacity_value, state, sign);
}

/// What depends on the state.
inline void fleet_counts::sums::put_state(std::int64_t count_value, std::int64_t capacity_value, game_server_state state,
                                          int sign) noexcept {
  bool const allocated = state == game_server_state::allocated;
  if (allocated) {
    allocated_count.add(count_value, sign);
    allocated_capacity.add(capacity_value, sign);
  }
  // Both are at least 0 where they come from Kubernetes; elsewhere nothing is left on a server that is over its capacity.
  if ((allocated || state == game_server_state::ready) && capacity_value > std::max<std::int64_t>(count_value, 0)) {
    free.add(capacity_value - std::max<std::int64_t>(count_value, 0), sign);
  }
}

AGONES_ALLOC_DECL auto fleet_counts::sums::info() const -> capacity_info {
  return {allocated_count.value(), allocated_capacity.value(), count.value(), capacity.value(), free.value()};
}

AGONES_ALLOC_DECL void fleet_counts::put_capacities(game_server_status const& status, int sign) {
  if (status.players) players_.put(status.players->count, status.players->capacity, status.state, sign);
  auto const into = [&](sums_by_name& all, shared_string const& name, std::int64_t count, std::int64_t capacity) {
    auto const at = all.try_emplace(name).first;
    at->second.put(count, capacity, status.state, sign);
    if (at->second.servers == 0) all.erase(at);
  };
  for (auto const& [name, counter] : status.counters) into(counters_, name, counter.count, counter.capacity);
  for (auto const& [name, list] : status.lists) into(lists_, name, list.count(), list.capacity);
}

/// The server's state was `before`; the rest is as it was.
inline void fleet_counts::move_capacities(game_server_status const& status, game_server_state before) {
  auto const move = [&](sums& of, std::int64_t count, std::int64_t capacity) {
    of.put_state(count, capacity, status.state, 1);
    of.put_state(count, capacity, before, -1);
  };
  if (status.players) move(players_, status.players->count, status.players->capacity);
  for (auto const& [name, counter] : status.counters) move(counters_.find(name)->second, counter.count, counter.capacity);
  for (auto const& [name, list] : status.lists) move(lists_.find(name)->second, list.count(), list.capacity);
}

inline void fleet_counts::join_node(game_server_status const& status, node_place& at) {
  if (status.node_name.empty()) return;
  at = &*nodes_.try_emplace(status.node_name).first;
  detail::count_on(at->second, status.state, 1);
}

inline void fleet_counts::leave_node(game_server_status const& status, node_place& at) {
  if (at == nullptr) return;
  detail::count_on(at->second, status.state, -1);
  if (at->second.total == 0) nodes_.erase(nodes_.find(at->first));
  at = nullptr;
}

inline void fleet_counts::put_server(game_server const& server, int sign) {
  servers_ += sign;
  if (is_being_deleted(server)) {
    shutting_down_ += sign;
    return;
  }
  total_ += sign;
  put_state(counted_state(server), sign);
  put_capacities(server.status, sign);
}

AGONES_ALLOC_DECL void fleet_counts::add(game_server const& server, node_place& at) {
  put_server(server, 1);
  if (!is_being_deleted(server)) join_node(server.status, at);
}

AGONES_ALLOC_DECL void fleet_counts::remove(game_server const& server, node_place& at) {
  put_server(server, -1);
  leave_node(server.status, at);
}

AGONES_ALLOC_DECL auto fleet_counts::replace(game_server const& before, game_server const& now, node_place& at) -> bool {
  bool const was_going = is_being_deleted(before);
  if (was_going && is_being_deleted(now)) return false;
  if (was_going != is_being_deleted(now)) {
    remove(before, at);
    add(now, at);
    return true;
  }
  auto const& old_status = before.status;
  auto const& status = now.status;
  bool const same_state = old_status.state == status.state;
  bool const same_node = old_status.node_name == status.node_name;
  bool const same_capacities = detail::same_capacities(old_status, status);
  auto const old_counted = counted_state(before);
  auto const counted = counted_state(now);
  if (same_state && counted == old_counted && same_node && same_capacities) return false;
  if (counted != old_counted) {
    put_state(old_counted, -1);
    put_state(counted, 1);
  }
  if (!same_node) {
    leave_node(old_status, at);
    join_node(status, at);
  } else if (!same_state && at != nullptr) {
    detail::count_on(at->second, status.state, 1);
    detail::count_on(at->second, old_status.state, -1);
  }
  if (!same_capacities) {
    put_capacities(status, 1);
    put_capacities(old_status, -1);
  } else if (!same_state && detail::has_capacities(status)) {
    move_capacities(status, old_status.state);
  }
  return true;
}

AGONES_ALLOC_DECL void fleet_counts::bring_near() const noexcept {
  auto const* const all = reinterpret_cast<char const*>(this);
  for (std::size_t line = 0; line < sizeof *this; line += 64) detail::bring_near(all + line);
}

AGONES_ALLOC_DECL auto fleet_counts::infos(sums_by_name const& all) -> named_map<capacity_info> {
  named_map<capacity_info> out;
  out.reserve(all.size());
  for (auto const& [name, sum] : all) out.emplace_hint(out.end(), name, sum.info());
  return out;
}

AGONES_ALLOC_DECL auto fleet_counts::recount() const -> fleet_recount {
  fleet_recount out;
  out.total = total_;
  out.shutting_down = shutting_down_;
  out.states = states_;
  if (players_.servers > 0) out.players = players_.info();
  out.counters = infos(counters_);
  out.lists = infos(lists_);
  out.nodes.reserve(nodes_.size());
  for (auto const& [name, counts] : nodes_) out.nodes.push_back({name, counts.total, counts.ready, counts.allocated});
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
