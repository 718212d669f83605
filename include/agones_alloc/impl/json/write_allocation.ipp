#pragma once

#include <agones_alloc/json/detail/write_allocation.hpp>
#include <agones_alloc/json/write.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void write_value(writer& to, allocation_status const& status) {
  to.open('{');
  write_member(to, "state", status.state);
  write_member(to, "gameServerName", status.game_server_name);
  write_non_empty(to, "ports", status.ports);
  write_non_empty(to, "address", status.address);
  write_non_empty(to, "addresses", status.addresses);
  write_non_empty(to, "nodeName", status.node_name);
  write_member(to, "source", status.source);
  write_present(to, "metadata", status.metadata);
  write_non_empty(to, "counters", status.counters);
  write_non_empty(to, "lists", status.lists);
  to.close('}');
}

}  // namespace detail::wire

AGONES_ALLOC_DECL void append_json(std::string& out, game_server_allocation const& gsa) {
  detail::wire::writer to{out};
  detail::wire::open_object(to, "GameServerAllocation", "allocation.agones.dev/v1", gsa.meta, gsa.meta.name);
  detail::wire::write_member(to, "spec", gsa.spec);
  detail::wire::write_member(to, "status", gsa.status);
  to.close('}');
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
