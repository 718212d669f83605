// What a fuzz target says of what it found: it holds, or the run ends here.
#pragma once

#include <cstdlib>

namespace fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace fuzz
