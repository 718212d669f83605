#pragma once

#include <agones_alloc/embedded/fleet_simulator.hpp>
#include <agones_alloc/embedded/names.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto fleet_simulator::make_slot(object_key key, std::uint32_t number) -> std::uint32_t {
  auto slot = static_cast<std::uint32_t>(servers_.size());
  if (free_slots_.empty()) {
    servers_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  auto& s = servers_[slot];
  s.key = std::move(key);
  s.ticket = ++tickets_;
  s.fleet = number;
  by_key_.emplace(s.key, slot);
  if (number != none) {
    s.member = static_cast<std::uint32_t>(fleets_[number].members.size());
    fleets_[number].members.push_back(slot);
  }
  return slot;
}

AGONES_ALLOC_DECL void fleet_simulator::forget(std::uint32_t slot) {
  auto& s = servers_[slot];
  set_timer(slot, std::nullopt);
  if (s.place) nodes_.release(*s.place);
  for (auto const number : std::exchange(waiting_, {})) {
    fleets_[number].waiting = false;
    mark_dirty(number);
  }
  if (s.fleet != none) {
    auto& f = fleets_[s.fleet];
    if (s.is_created()) f.tally.remove(*s.known);
    f.live -= s.live ? 1 : 0;
    f.deletable -= s.deletable ? 1 : 0;
    f.overflowed -= s.overflowed ? 1 : 0;
    auto const last = f.members.back();
    f.members[s.member] = last;
    servers_[last].member = s.member;
    f.members.pop_back();
    mark_dirty(s.fleet);
    mark_changed(s.fleet);
  }
  by_key_.erase(s.key);
  servers_[slot] = server{};
  free_slots_.push_back(slot);
}

/// Brings a server's share in its fleet's counts up to date, and has the fleet looked at when it is off its size.
AGONES_ALLOC_DECL void fleet_simulator::recount(std::uint32_t slot) {
  auto& s = servers_[slot];
  if (s.fleet == none) return;
  auto& f = fleets_[s.fleet];
  using state = game_server_state;
  bool const live = !s.doomed && s.phase != state::shutdown;
  bool const is_protected = s.phase == state::allocated || s.phase == state::reserved || s.phase == state::allocating;
  bool const deletable = live && s.is_created() && !s.stale && !is_protected;
  f.live += static_cast<int>(live) - static_cast<int>(s.live);
  f.deletable += static_cast<int>(deletable) - static_cast<int>(s.deletable);
  s.live = live;
  s.deletable = deletable;
  if (f.live != f.object.replicas) mark_dirty(s.fleet);
}

AGONES_ALLOC_DECL void fleet_simulator::mark_dirty(std::uint32_t number) {
  auto& f = fleets_[number];
  if (f.dirty) return;
  f.dirty = true;
  dirty_.push_back(number);
}

AGONES_ALLOC_DECL void fleet_simulator::mark_changed(std::uint32_t number) {
  if (!std::exchange(fleets_[number].changed, true)) changed_.push_back(number);
}

AGONES_ALLOC_DECL auto fleet_simulator::keep_up(std::uint32_t number, instant t) -> std::optional<simulator_action> {
  auto& f = fleets_[number];
  if (f.live < f.object.replicas) return create_server(number, t);
  if (f.live > f.object.replicas) {
    if (f.deletable > 0) doom_excess(number);
    if (f.object.allocation_overflow && f.tally.allocated() - f.overflowed > f.object.replicas) mark_overflow(number);
  }
  return std::nullopt;
}

AGONES_ALLOC_DECL void fleet_simulator::lack_room(std::uint32_t number) {
  auto& f = fleets_[number];
  if (!std::exchange(f.waiting, true)) waiting_.push_back(number);
  bool const some_leave = static_cast<std::int64_t>(f.members.size()) > f.live;
  if (some_leave || std::exchange(f.told, true)) return;
  auto reason = by_key_.size() < options_.max_servers
                    ? nodes_.why_full(f.object.server_template.ports)
                    : "there are " + std::to_string(by_key_.size()) + " game servers, and there may be no more";
  shortages_.push_back({key_of(f.object.meta), f.live, f.object.replicas, std::move(reason)});
}

AGONES_ALLOC_DECL auto fleet_simulator::next_shortage() -> std::optional<fleet_shortage> {
  if (shortages_.empty()) return std::nullopt;
  auto out = std::move(shortages_.front());
  shortages_.pop_front();
  return out;
}

AGONES_ALLOC_DECL auto fleet_simulator::create_server(std::uint32_t number, instant t)
    -> std::optional<simulator_action> {
  auto& f = fleets_[number];
  auto const& shape = f.object.server_template;
  auto place = by_key_.size() < options_.max_servers ? nodes_.place(shape.ports, f.object.scheduling != "Distributed")
                                                     : std::nullopt;
  if (!place) {
    lack_room(number);
    return std::nullopt;
  }
  object_key key{f.object.meta.namespace_, generated_name(f.set_name, random_)};
  while (by_key_.contains(key)) key.name = generated_name(f.set_name, random_);
  auto const slot = make_slot(key, number);
  auto& s = servers_[slot];
  s.place = std::move(place);
  s.born = t.now;
  s.ready_at = t.now + draw(f.settings.start_up);
  s.fails = f.settings.start_failure > 0 && random_.unit() < f.settings.start_failure;
  // A fleet of servers that fail at once would be replaced without end and without time passing.
  constexpr duration_range least{std::chrono::seconds{1}, std::chrono::seconds{1}};
  if (s.fails) s.ready_at = std::max(s.ready_at, t.now + draw(least));
  s.writing = true;

  game_server made;
  made.meta.name = key.name;
  made.meta.namespace_ = key.namespace_;
  made.meta.uid = generated_uid(random_);
  made.meta.generation = 1;
  made.meta.creation_timestamp = std::chrono::floor<std::chrono::seconds>(t.wall);
  made.meta.labels = f.labels;
  made.meta.annotations = shape.annotations;
  made.meta.extra = f.extra;
  made.spec = shape.spec;
  made.status.counters = shape.counters;
  made.status.lists = shape.lists;
  if (shape.players_initial_capacity) {
    made.status.players = std::make_shared<player_status const>(player_status{0, *shape.players_initial_capacity, {}});
  }
  bool const at_once = s.ready_at == s.born && !s.fails;
  made.status.state = at_once ? game_server_state::ready : game_server_state::starting;
  if (at_once) show_place(made.status, slot);
  s.known = std::make_shared<game_server const>(std::move(made));
  recount(slot);
  return simulator_action{simulator_action::kind::create, nullptr, s.known, slot, s.ticket};
}

/// Chooses what a scale-down takes: first servers that are not ready; then, for Packed, those on the emptiest nodes;
/// then the youngest.
AGONES_ALLOC_DECL void fleet_simulator::doom_excess(std::uint32_t number) {
  auto& f = fleets_[number];
  bool const packed = f.object.scheduling != "Distributed";
  std::vector<std::tuple<bool, std::uint32_t, std::uint64_t, std::uint32_t>> candidates;
  for (auto const slot : f.members) {
    auto const& s = servers_[slot];
    if (!s.deletable) continue;
    auto const load = packed && s.place ? nodes_.used(s.place->node) : 0;
    candidates.emplace_back(s.phase == game_server_state::ready, load, ~s.ticket, slot);
  }
  auto const excess = static_cast<std::size_t>(f.live - f.object.replicas);
  auto const count = std::min(excess, candidates.size());
  auto const middle = candidates.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(candidates.begin(), middle, candidates.end());
  for (auto at = candidates.begin(); at != middle; ++at) {
    auto const slot = std::get<3>(*at);
    servers_[slot].doomed = true;
    urgent_.push_back(slot);
    recount(slot);
  }
}

/// Marks as many Allocated servers as are in excess, the oldest first.
AGONES_ALLOC_DECL void fleet_simulator::mark_overflow(std::uint32_t number) {
  auto& f = fleets_[number];
  std::vector<std::pair<std::uint64_t, std::uint32_t>> candidates;
  for (auto const slot : f.members) {
    auto const& s = servers_[slot];
    if (s.phase == game_server_state::allocated && !s.overflowed) candidates.emplace_back(s.ticket, slot);
  }
  std::sort(candidates.begin(), candidates.end());
  auto excess = f.tally.allocated() - f.overflowed - f.object.replicas;
  for (auto const& [ticket, slot] : candidates) {
    if (excess-- <= 0) break;
    servers_[slot].overflowing = servers_[slot].overflowed = true;
    ++f.overflowed;
    urgent_.push_back(slot);
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
