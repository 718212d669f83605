// What all parts of one simulated world share: chance, time, history, figures, and whether a rule was broken.
#pragma once

#include "mutations.hpp"
#include "schedule.hpp"

#include <agones_alloc/flow/gate_settings.hpp>
#include <agones_alloc/port/random.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace simulation {

/// How bad it is; drawn for each seed.
struct weather {
  double unavailable{0};
  double throttled{0};
  double refused{0};
  double lost_before{0};  ///< the answer is lost, the request never arrives
  double lost_after{0};   ///< the answer is lost, the request was executed
  double late{0};         ///< the answer is lost, the request is executed afterwards
  double slow{0};
  double broken_watch{0};
  double stuck_watch{0};
  double pause{0};        ///< of a replica
  double lost_caller{0};  ///< between matchmaker and replica
};

class world {
 public:
  world(std::uint64_t seed, mutation what, bool verbose) : random{seed}, queue{random}, broken{what}, verbose_{verbose} {}

  seeded_random random;
  schedule queue;
  mutation broken;
  weather sky;
  std::optional<gate_settings> gate;  ///< of all replicas; nullopt: none
  bool exact{false};                  ///< actions fit as a whole, and are of different amounts
  /// Mutation digest_not_compared: of what was asked last with each id, as replicas see it on every server.
  std::map<std::string, std::uint64_t, std::less<>> asked;
  bool calm{false};  ///< faults have stopped, and nothing new begins
  std::map<std::string, std::uint64_t, std::less<>> figures;

  auto chance(double probability) -> bool { return random.unit() < probability; }
  auto trouble(double probability) -> bool { return chance(probability) && !calm; }
  auto between(nanos low, nanos high) -> nanos {
    return low + nanos{static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>((high - low).count()) + 1))};
  }
  auto now() const noexcept -> nanos { return queue.now(); }
  void count(std::string_view figure) {
    auto const at = figures.find(figure);
    if (at == figures.end()) {
      figures.emplace(figure, 1);
    } else {
      ++at->second;
    }
  }

  /// Adds a line to the history.
  void say(std::string line);
  /// A rule is broken; the first one counts.
  void fail(std::string what);
  auto failure() const noexcept -> std::optional<std::string> const& { return failure_; }
  auto last_lines() const noexcept -> std::deque<std::string> const& { return lines_; }
  /// Of the whole history: equal for equal runs.
  auto digest() const noexcept -> std::uint64_t { return digest_; }

 private:
  static constexpr std::size_t kept_lines = 60;

  std::deque<std::string> lines_;
  std::optional<std::string> failure_;
  std::uint64_t digest_{0};
  bool verbose_;
};

}  // namespace simulation
