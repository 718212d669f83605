// What happened to the servers of a store, for those who select by labels.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/port/server_source.hpp>

#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What happened to a server.
struct store_change {
  server_event event;
  game_server_ptr relabelled;  ///< of `modified`: what it was before, if its labels were others; else null
};

struct store_changes {
  std::vector<store_change> changes;
  std::string resource_version;  ///< where to go on from
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
