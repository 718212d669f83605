#pragma once

#include <agones_alloc/cache/freshness.hpp>
#include <agones_alloc/flow/event_tracker.hpp>

#include <memory>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto is_taken(game_server const& server) noexcept -> bool { return server.status.state == game_server_state::allocated; }

inline auto server_event_of(object_change what, game_server_ptr server, game_server_ptr const& before,
                            object_event::wall_time now) -> object_event {
  object_event out;
  out.what = what;
  out.revision = server->meta.resource_version;
  out.server = std::move(server);
  if (before) out.before = before->status.state;
  out.at = now;
  return out;
}

inline auto change_of(game_server const& before, game_server const& after) noexcept -> object_change {
  if (!is_taken(after)) return is_taken(before) ? object_change::released : object_change::updated;
  if (!is_taken(before)) return object_change::allocated;
  auto const last = [](game_server const& s) { return s.meta.annotations.value_or_empty(keys::last_allocated_annotation); };
  return last(before) == last(after) ? object_change::updated : object_change::allocated;
}

inline auto fleet_event_of(object_change what, fleet_ptr one, object_event::wall_time now) -> object_event {
  object_event out;
  out.what = what;
  out.revision = one->meta.resource_version;
  if (out.revision.empty()) out.revision = std::to_string(now.time_since_epoch().count());
  out.fleet_object = std::move(one);
  out.at = now;
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL auto event_tracker::known() const -> std::vector<game_server_ptr> {
  std::vector<game_server_ptr> out;
  out.reserve(servers_.size());
  for (auto const& [key, one] : servers_) out.push_back(one.value);
  return out;
}

AGONES_ALLOC_DECL void event_tracker::recall(std::span<game_server_ptr const> earlier) {
  ++lists_;
  for (auto const& server : earlier) servers_[key_of(server->meta)].value = server;
}

AGONES_ALLOC_DECL void event_tracker::stored(game_server_ptr const& server, wall_time now, events& out) {
  if (server) take(server, now, out);
}

AGONES_ALLOC_DECL void event_tracker::take(game_server_ptr const& server, wall_time now, events& out) {
  auto& place = servers_[key_of(server->meta)];
  auto const before = place.value;
  if (before && before->meta.uid == server->meta.uid) {
    if (!is_newer(*server, *before)) return;
    out.push_back(detail::server_event_of(detail::change_of(*before, *server), server, before, now));
  } else {
    if (before) gone(before, nullptr, now, out);
    out.push_back(detail::server_event_of(object_change::added, server, nullptr, now));
    if (!first_ && detail::is_taken(*server)) {
      out.push_back(detail::server_event_of(object_change::allocated, server, nullptr, now));
    }
  }
  place.value = server;
}

AGONES_ALLOC_DECL void event_tracker::gone(game_server_ptr const& known, game_server_ptr const& last, wall_time now,
                                           events& out) {
  auto const& final_value = last && last->status.state != game_server_state::unset ? last : known;
  if (detail::is_taken(*known)) out.push_back(detail::server_event_of(object_change::released, final_value, known, now));
  out.push_back(detail::server_event_of(object_change::deleted, final_value, known, now));
}

AGONES_ALLOC_DECL void event_tracker::erased(object_key const& key, std::string_view uid, game_server_ptr const& last,
                                             wall_time now, events& out) {
  auto const at = servers_.find(key);
  if (at == servers_.end()) return;
  auto const known = at->second.value;
  // Another server has had the name since.
  if (!uid.empty() && !known->meta.uid.empty() && known->meta.uid != uid) return;
  servers_.erase(at);
  gone(known, last, now, out);
}

AGONES_ALLOC_DECL void event_tracker::replaced(std::span<game_server_ptr const> all, wall_time now, events& out) {
  first_ = lists_++ == 0;
  for (auto const& server : all) {
    if (!server) continue;
    take(server, now, out);
    servers_.find(key_of(server->meta))->second.list = lists_;
  }
  first_ = false;
  for (auto at = servers_.begin(); at != servers_.end();) {
    if (at->second.list == lists_) {
      ++at;
      continue;
    }
    auto const known = std::move(at->second.value);
    servers_.erase(at++);
    gone(known, nullptr, now, out);
  }
}

AGONES_ALLOC_DECL void event_tracker::fleets(std::span<fleet const> all, wall_time now, events& out) {
  ++fleet_lists_;
  for (auto const& one : all) {
    auto& place = fleets_[key_of(one.meta)];
    place.list = fleet_lists_;
    auto const before = place.value;
    if (before && before->meta.uid == one.meta.uid) {
      if (*before == one) continue;
      place.value = std::make_shared<fleet const>(one);
      out.push_back(detail::fleet_event_of(object_change::updated, place.value, now));
      continue;
    }
    if (before) out.push_back(detail::fleet_event_of(object_change::deleted, before, now));
    place.value = std::make_shared<fleet const>(one);
    out.push_back(detail::fleet_event_of(object_change::added, place.value, now));
  }
  for (auto at = fleets_.begin(); at != fleets_.end();) {
    if (at->second.list == fleet_lists_) {
      ++at;
      continue;
    }
    out.push_back(detail::fleet_event_of(object_change::deleted, at->second.value, now));
    fleets_.erase(at++);
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
