// Asks for memory before it is needed.
#pragma once

#include <agones_alloc/config.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// The line of the cache that `place` is in; any address will do, null and those that are nobody's, too.
AGONES_ALLOC_INLINE void bring_near(void const* place) noexcept {
  __builtin_prefetch(place);
  // g++ takes a function that does nothing but prefetch for one without effects, and drops its calls.
  asm volatile("");
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
