// One seed: a world from its beginning to its rest.
#pragma once

#include "mutations.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace simulation {

struct scenario {
  std::uint64_t seed{1};
  std::uint64_t steps{1000};
  int replicas{3};
  mutation broken{mutation::none};
  bool verbose{false};
  bool late_writes{false};  ///< a write may be made after it was read back that it was not
  bool gate{false};         ///< servers wait for their games to be ready
};

struct verdict {
  std::optional<std::string> failure;
  std::vector<std::string> last_lines;
  std::uint64_t steps{0};
  std::uint64_t digest{0};
  std::map<std::string, std::uint64_t, std::less<>> figures;
};

/// The same scenario gives the same verdict.
auto run(scenario const&) -> verdict;

}  // namespace simulation
