// Agones' feature gates that change an allocation (spec 2.7).
#pragma once

#include <agones_alloc/config.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Defaults are Agones'. The other gates of the reference have no effect here.
struct feature_gates {
  bool counts_and_lists{true};
  bool player_allocation_filter{false};
  friend auto operator==(feature_gates const&, feature_gates const&) -> bool = default;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
