// Asks for the memory of a server before it is needed.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/detail/bring_near.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <cstddef>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline void bring_record_near(game_server const* server) noexcept {
  auto const* record = reinterpret_cast<char const*>(server);
  bring_near(record - 1);  // the reference count stands in front of the value
  for (std::size_t line = 0; line < sizeof(game_server); line += 64) bring_near(record + line);
}

/// What a copy of the server touches beyond its record, which should be near already.
inline void bring_parts_near(game_server const& server) noexcept {
  server.meta.name.bring_near();
  server.meta.uid.bring_near();
  server.meta.resource_version.bring_near();
  server.meta.annotations.bring_near();
  server.status.ports.bring_near();
  server.status.counters.bring_near();
  server.status.lists.bring_near();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
