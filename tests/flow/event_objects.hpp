// Game servers and fleets whose changes are told.
#pragma once

#include <agones_alloc/flow/event_tracker.hpp>
#include <agones_alloc/model/object_event.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace event_test {

using namespace agones_alloc;

inline constexpr object_event::wall_time noon{std::chrono::seconds{1'600'000'000}};

inline auto server_at(std::string_view name, std::string_view version, game_server_state state = game_server_state::ready,
                      std::string_view last_allocated = {}, std::string_view uid = {}) -> game_server_ptr {
  game_server out;
  out.meta.name = name;
  out.meta.namespace_ = "default";
  out.meta.uid = uid.empty() ? std::string{name} + "-uid" : std::string{uid};
  out.meta.resource_version = version;
  out.meta.labels.set(keys::fleet_label, "arena");
  if (!last_allocated.empty()) out.meta.annotations.set(keys::last_allocated_annotation, last_allocated);
  out.status.state = state;
  return std::make_shared<game_server const>(std::move(out));
}

inline auto event_about(std::string_view name, object_change what = object_change::updated, std::string_view version = "1")
    -> object_event {
  object_event out;
  out.what = what;
  out.server = server_at(name, version);
  out.revision = version;
  out.at = noon;
  return out;
}

/// `added a@1`, for each.
inline auto words(std::vector<object_event> const& events) -> std::vector<std::string> {
  std::vector<std::string> out;
  for (auto const& e : events) {
    out.push_back(std::string{to_string(e.what)} + " " + e.meta().name.str() + "@" + e.revision.str());
  }
  return out;
}

using lines = std::vector<std::string>;

}  // namespace event_test
