#pragma once

#include <agones_alloc/embedded/fleet_tally.hpp>

#include <limits>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto wide_sum::value() const noexcept -> std::int64_t {
  auto const high = high_ + (low_ >> 32);
  auto const low = low_ & 0xffffffff;
  if (high > std::numeric_limits<std::int32_t>::max()) return std::numeric_limits<std::int64_t>::max();
  if (high < std::numeric_limits<std::int32_t>::min()) return std::numeric_limits<std::int64_t>::min();
  return high * (std::int64_t{1} << 32) + low;
}

AGONES_ALLOC_DECL void fleet_tally::sums::change(std::int64_t count_value, std::int64_t capacity_value,
                                                 bool is_allocated, int sign) {
  auto const put = [sign](wide_sum& sum, std::int64_t value) { sign > 0 ? sum.add(value) : sum.subtract(value); };
  servers += sign;
  put(count, count_value);
  put(capacity, capacity_value);
  if (!is_allocated) return;
  put(allocated_count, count_value);
  put(allocated_capacity, capacity_value);
}

AGONES_ALLOC_DECL auto fleet_tally::sums::aggregated() const -> aggregated_capacity {
  return {allocated_count.value(), allocated_capacity.value(), count.value(), capacity.value()};
}

AGONES_ALLOC_DECL void fleet_tally::change(game_server const& server, int sign) {
  if (is_being_deleted(server)) return;
  auto const& status = server.status;
  bool const is_allocated = status.state == game_server_state::allocated;
  replicas_ += sign;
  if (is_allocated) allocated_ += sign;
  if (status.state == game_server_state::ready) ready_ += sign;
  if (status.state == game_server_state::reserved) reserved_ += sign;
  if (status.players) players_.change(status.players->count, status.players->capacity, is_allocated, sign);
  auto const into = [&](sums_by_name& all, shared_string const& name, std::int64_t count, std::int64_t capacity) {
    auto const at = all.try_emplace(name).first;
    at->second.change(count, capacity, is_allocated, sign);
    if (at->second.servers == 0) all.erase(at);
  };
  for (auto const& [name, counter] : status.counters) into(counters_, name, counter.count, counter.capacity);
  for (auto const& [name, list] : status.lists) into(lists_, name, list.count(), list.capacity);
}

AGONES_ALLOC_DECL auto fleet_tally::aggregated(sums_by_name const& all) -> named_map<aggregated_capacity> {
  named_map<aggregated_capacity> out;
  for (auto const& [name, sum] : all) out.emplace_hint(out.end(), name, sum.aggregated());
  return out;
}

AGONES_ALLOC_DECL auto fleet_tally::status() const -> fleet_status {
  fleet_status out;
  out.replicas = replicas_;
  out.ready_replicas = ready_;
  out.reserved_replicas = reserved_;
  out.allocated_replicas = allocated_;
  if (players_.servers > 0) out.players = counter_status{players_.count.value(), players_.capacity.value()};
  out.counters = aggregated(counters_);
  out.lists = aggregated(lists_);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
