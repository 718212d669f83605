// Two ways to do something, measured in turn.
#pragma once

#include "median.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <vector>

namespace bench {

struct comparison {
  double ours{0};
  double baseline{0};
  auto ratio() const noexcept -> double { return ours / baseline; }
};

/// Rounds of both alternate, so that whatever else the machine does meets both; medians count.
template <class Baseline, class Ours>
auto in_turn(std::size_t rounds, Baseline measure_baseline, Ours measure_ours) -> comparison {
  std::vector<double> baseline;
  std::vector<double> ours;
  for (std::size_t round = 0; round != rounds; ++round) {
    baseline.push_back(measure_baseline());
    ours.push_back(measure_ours());
  }
  return {median(ours), median(baseline)};
}

inline void add_rounds(CLI::App& app, std::size_t& rounds) {
  app.add_option("--rounds", rounds, "Of each kind")->check(CLI::Range(1, 1000))->capture_default_str();
}

}  // namespace bench
