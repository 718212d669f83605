// The parts of a status that game servers and allocations share (spec 1.3, 1.4).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/read_members.hpp>
#include <agones_alloc/model/game_server.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

inline void read_value(reader& in, place const& at, boost::json::value const& value, game_server_port& out) {
  read_members(in, at, value, field{"name", out.name}, field{"port", out.port});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, node_address& out) {
  read_members(in, at, value, field{"type", out.type}, field{"address", out.address});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, counter_status& out) {
  read_members(in, at, value, field{"count", out.count}, field{"capacity", out.capacity});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, list_status& out) {
  read_members(in, at, value, field{"capacity", out.capacity}, field{"values", out.values});
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
