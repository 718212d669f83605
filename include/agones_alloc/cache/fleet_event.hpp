// What a watch of fleets tells, and how far it has got.
#pragma once

#include <agones_alloc/cache/fleet_filter.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/fleet_info.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class fleet_event_kind : std::uint8_t {
  reset,           ///< what was told before is void: everything follows anew
  snapshot_item,   ///< a fleet of the state at the start
  synced,          ///< the state is complete; changes follow
  added,           ///< a fleet that was not there
  modified,        ///< a fleet as it is now
  deleted,         ///< the last that was known of a fleet; also of one that matches no longer
  cluster_status,  ///< a cluster as it is now
  cluster_gone,    ///< nobody speaks of this cluster any more
};

struct fleet_event {
  fleet_event_kind what{fleet_event_kind::modified};
  fleet_info_ptr fleet;      ///< null for what is not about one
  cluster_info_ptr cluster;  ///< the same
  std::uint64_t revision{0};   ///< who has heard it may go on from here; 0 before `synced`
};

/// Where one watch stands. A value; all that the book needs to know of a consumer.
struct fleet_cursor {
  enum class phase : std::uint8_t { fresh, listing, following };
  phase at{phase::fresh};
  bool reset{false};               ///< `reset` is still to be told
  std::optional<fleet_key> after{};  ///< while listing
  std::uint64_t base{0};           ///< revision at which the listing began
  std::uint64_t seen{0};           ///< while following: all up to it was told
};

/// Some of the fleets, by cluster, namespace and name.
struct fleet_page {
  std::vector<fleet_info_ptr> fleets;
  std::vector<cluster_info_ptr> clusters;
  bool more{false};            ///< there are further ones after the last
  std::uint64_t revision{0};   ///< a watch from here on tells all that changes later, and perhaps a little again
  std::uint64_t digest{0};     ///< of what is on the page: the same as long as nothing of it changes
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
