// What a benchmark tells of its rounds.
#pragma once

#include <algorithm>
#include <vector>

namespace bench {

/// The greater of the two middle ones where their number is even. There must be one.
inline auto median(std::vector<double> values) -> double {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace bench
