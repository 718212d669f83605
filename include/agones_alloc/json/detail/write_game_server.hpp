// Parts of a GameServer's status that a whole document and a patch share (spec 1.4).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/write_meta.hpp>
#include <agones_alloc/json/detail/write_status.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

/// Where the reference's nil slice prints `null`.
template <class T>
void write_or_null(writer& to, std::string_view name, std::vector<T> const& values) {
  to.key(name);
  if (values.empty()) {
    to.raw("null");
  } else {
    write_value(to, values);
  }
}

inline void write_players(writer& to, player_status const* players) {
  to.key("players");
  if (players == nullptr) return to.raw("null");
  to.open('{');
  write_member(to, "count", players->count);
  write_member(to, "capacity", players->capacity);
  write_member(to, "ids", players->ids);
  to.close('}');
}

inline void write_eviction(writer& to, shared_string const& safe) {
  to.key("eviction");
  to.open('{');
  write_member(to, "safe", safe);
  to.close('}');
}

inline void write_value(writer& to, game_server_state state) { to.text(to_string(state)); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
