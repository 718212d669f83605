// Whether there is room for a request, without taking any of it.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// How many servers an allocation request could be given at this moment.
struct room_report {
  struct selector_room {
    std::uint64_t free{0};       ///< servers that match and could be taken now
    std::uint64_t in_flight{0};  ///< those that match and are being written at this moment
    friend auto operator==(selector_room const&, selector_room const&) -> bool = default;
  };
  std::uint64_t fits{0};  ///< servers that match any selector; a lower bound unless `exact`
  bool exact{true};       ///< false where selectors may match the same servers
  std::vector<selector_room> selectors;
  std::vector<game_server_ptr> first;  ///< in the order in which they would go; of a random order, some
  std::shared_ptr<breakdown const> remaining;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
