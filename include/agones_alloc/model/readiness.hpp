// What one look at a game server says about players joining it.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class probe_answer : std::uint8_t {
  ready,
  pending,  ///< not yet, or nobody knows
  failed,   ///< it says that it will not be
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
