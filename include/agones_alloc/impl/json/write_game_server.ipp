#pragma once

#include <agones_alloc/json/detail/write_game_server.hpp>
#include <agones_alloc/json/write.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void write_value(writer& to, game_server_status const& status) {
  to.open('{');
  write_member(to, "state", status.state);
  write_or_null(to, "ports", status.ports.get());
  write_member(to, "address", status.address);
  write_or_null(to, "addresses", status.addresses.get());
  write_member(to, "nodeName", status.node_name);
  write_member(to, "reservedUntil", status.reserved_until);
  write_players(to, status.players.get());
  write_non_empty(to, "counters", status.counters.get());
  write_non_empty(to, "lists", status.lists.get());
  if (!status.eviction_safe.empty()) write_eviction(to, status.eviction_safe);
  to.close('}');
}

}  // namespace detail::wire

AGONES_ALLOC_DECL void append_json(std::string& out, game_server const& server) {
  detail::wire::writer to{out};
  detail::wire::open_object(to, "GameServer", "agones.dev/v1", server.meta, server.meta.name);
  if (!server.spec.empty()) {
    to.key("spec");
    to.raw(server.spec);
  }
  detail::wire::write_member(to, "status", server.status);
  to.close('}');
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
