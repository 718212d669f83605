#pragma once

#include <agones_alloc/embedded/fleet_simulator.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto fleet_simulator::settings_of(server const& s) const -> fleet_settings const& {
  return s.single ? s.single->settings : fleets_[s.fleet].settings;
}

AGONES_ALLOC_DECL auto fleet_simulator::draw(duration_range const& range) -> std::chrono::nanoseconds {
  auto const width = static_cast<std::uint64_t>((range.max - range.min).count());
  auto const drawn =
      width == 0 ? range.min.count() : range.min.count() + static_cast<std::int64_t>(random_.below(width + 1));
  auto const real = static_cast<double>(drawn) / options_.speed;
  return std::chrono::nanoseconds{static_cast<std::int64_t>(std::min(real, 4e18))};
}

AGONES_ALLOC_DECL void fleet_simulator::set_timer(std::uint32_t slot, std::optional<timer::time_point> due) {
  auto& s = servers_[slot];
  if (s.due) timers_.erase({*s.due, slot});
  s.due = due;
  if (due) timers_.emplace(*due, slot);
}

/// Node, address and ports become visible when a server is Scheduled.
AGONES_ALLOC_DECL void fleet_simulator::show_place(game_server_status& status, std::uint32_t slot) const {
  auto const& s = servers_[slot];
  if (!s.place) return;
  status.node_name = nodes_.name(s.place->node);
  status.address = nodes_.address(s.place->node);
  status.addresses = nodes_.addresses(s.place->node);
  status.ports =
      status_ports(s.single ? s.single->ports : fleets_[s.fleet].object.server_template.ports, s.place->host_ports);
}

/// A newer state is known.
AGONES_ALLOC_DECL void fleet_simulator::accept(std::uint32_t slot, game_server_ptr now, instant t) {
  auto& s = servers_[slot];
  if (s.is_created() && !detail::is_newer(now->meta.resource_version, s.known->meta.resource_version)) {
    now = s.known;  // an event overtook the report of a write
  }
  if (s.fleet != none) {
    if (s.is_created()) fleets_[s.fleet].tally.remove(*s.known);
    fleets_[s.fleet].tally.add(*now);
    mark_changed(s.fleet);
  }
  s.known = std::move(now);
  s.stale = false;
  if (auto const phase = detail::phase_of(*s.known); phase != s.phase) {
    s.phase = phase;
    enter_phase(slot, t);
    if (s.overflowed && phase != game_server_state::allocated) drop_overflow(slot);
  }
  if (s.overflowing && has_overflow_patch(s)) s.overflowing = false;
  recount(slot);
  if ((s.doomed || s.overflowing) && !s.writing) urgent_.push_back(slot);
}

/// Sets the timer for what the phase leads to.
AGONES_ALLOC_DECL void fleet_simulator::enter_phase(std::uint32_t slot, instant t) {
  auto& s = servers_[slot];
  auto const start_up = s.ready_at - s.born;
  auto& due = s.phase_due;
  due.reset();
  switch (s.phase) {
    case game_server_state::unset:
    case game_server_state::port_allocation:
    case game_server_state::creating:
      due = t.now;
      break;
    case game_server_state::starting:
      due = s.born + start_up / 5 * 2;
      break;
    case game_server_state::scheduled:
      due = s.born + start_up / 5 * 4;
      break;
    case game_server_state::request_ready:
      due = s.ready_at;
      break;
    case game_server_state::allocated:
      if (auto const& session = settings_of(s).session_length) due = t.now + draw(*session);
      break;
    case game_server_state::reserved:
      if (auto const until = s.known->status.reserved_until; until != unset_time) {
        due = t.now + std::max(std::chrono::nanoseconds{until - t.wall}, std::chrono::nanoseconds{0});
      }
      break;
    case game_server_state::shutdown:
    case game_server_state::error:
    case game_server_state::unhealthy:
      due = t.now + draw(settings_of(s).shut_down);
      break;
    case game_server_state::allocating:
      s.answered = false;
      if (auto const& start = settings_of(s).session_start) due = t.now + draw(*start);
      break;
    case game_server_state::ready:
    case game_server_state::other:
      break;
  }
  set_timer(slot, due);
}

AGONES_ALLOC_DECL auto fleet_simulator::has_overflow_patch(server const& s) const -> bool {
  auto const has_all = [](string_map const& map, string_map const& wanted) {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&map](auto const& entry) { return map.find(entry.first) == entry.second; });
  };
  auto const& patch = *fleets_[s.fleet].object.allocation_overflow;
  return has_all(s.known->meta.labels, patch.labels) && has_all(s.known->meta.annotations, patch.annotations);
}

AGONES_ALLOC_DECL void fleet_simulator::drop_overflow(std::uint32_t slot) {
  auto& s = servers_[slot];
  s.overflowing = s.overflowed = false;
  --fleets_[s.fleet].overflowed;
}

AGONES_ALLOC_DECL auto fleet_simulator::change_state(std::uint32_t slot, game_server_state next) -> simulator_action {
  auto& s = servers_[slot];
  s.writing = true;
  auto desired = *s.known;
  desired.status.state = next;
  if (next == game_server_state::scheduled || (next == game_server_state::ready && desired.status.node_name.empty())) {
    show_place(desired.status, slot);
  }
  if (next == game_server_state::ready) desired.status.reserved_until = unset_time;
  return {simulator_action::kind::update, s.known, std::make_shared<game_server const>(std::move(desired)), slot,
          s.ticket};
}

/// A server's timer went off.
AGONES_ALLOC_DECL auto fleet_simulator::act(std::uint32_t slot, instant t) -> std::optional<simulator_action> {
  auto& s = servers_[slot];
  if (s.writing) return std::nullopt;
  if (s.stale) {
    s.stale = false;
    recount(slot);
  }
  if (!s.phase_due || t.now < *s.phase_due) {
    set_timer(slot, s.phase_due);
    return std::nullopt;
  }
  using state = game_server_state;
  switch (s.phase) {
    case state::unset:
    case state::port_allocation:
      return change_state(slot, state::creating);
    case state::creating:
      return change_state(slot, state::starting);
    case state::starting:
      return change_state(slot, state::scheduled);
    case state::scheduled:
      return change_state(slot, s.fails ? state::unhealthy : state::request_ready);
    case state::request_ready:
    case state::reserved:
      return change_state(slot, state::ready);
    case state::allocated:
      return change_state(slot, state::shutdown);
    case state::shutdown:
    case state::error:
    case state::unhealthy:
      s.writing = true;
      return simulator_action{simulator_action::kind::remove, s.known, nullptr, slot, s.ticket};
    case state::allocating:
      return answer_gate(slot);
    case state::ready:
    case state::other:
      break;
  }
  return std::nullopt;
}

/// What a fleet, or add_server, wants done now.
AGONES_ALLOC_DECL auto fleet_simulator::act_urgently(std::uint32_t slot) -> std::optional<simulator_action> {
  auto& s = servers_[slot];
  if (s.ticket == 0 || s.writing) return std::nullopt;  // gone, or looked at again when the write is done
  if (!s.is_created()) {
    s.writing = true;
    return simulator_action{simulator_action::kind::create, nullptr, s.known, slot, s.ticket};
  }
  if (s.doomed && s.phase != game_server_state::shutdown) return change_state(slot, game_server_state::shutdown);
  if (s.overflowing && s.phase == game_server_state::allocated) {
    s.writing = true;
    auto desired = *s.known;
    desired.meta.labels.merge(fleets_[s.fleet].object.allocation_overflow->labels);
    desired.meta.annotations.merge(fleets_[s.fleet].object.allocation_overflow->annotations);
    return simulator_action{simulator_action::kind::update, s.known,
                            std::make_shared<game_server const>(std::move(desired)), slot, s.ticket};
  }
  return std::nullopt;
}

/// A write was not made, or nobody knows.
AGONES_ALLOC_DECL void fleet_simulator::failed(std::uint32_t slot, error_code error, instant t) {
  auto& s = servers_[slot];
  auto const number = s.fleet;
  if (error == condition::gone) return forget(slot);
  if (!s.is_created()) {
    // Not created. A taken name is drawn anew at once; anything else waits.
    forget(slot);
    if (number != none && error != condition::conflict) {
      auto& f = fleets_[number];
      if (f.dirty) std::erase(dirty_, number);
      f.dirty = false;
      fleet_timers_.emplace(t.now + detail::simulator_retry, number);
    }
    return;
  }
  s.answered = false;
  // What changed may protect it now: the fleet chooses again, from what it will have seen.
  s.doomed = false;
  if (s.overflowing) drop_overflow(slot);
  s.stale = true;
  set_timer(slot, t.now + detail::simulator_retry);
  recount(slot);
  if (number != none) mark_dirty(number);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
