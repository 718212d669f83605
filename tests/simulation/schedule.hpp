// What happens next: the simulation's only clock, and the order of all that happens in it.
#pragma once

#include <agones_alloc/port/random.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace simulation {

using namespace agones_alloc;
using namespace std::chrono_literals;
using nanos = std::chrono::nanoseconds;

/// Things to do, by time; what is due at the same time is drawn.
class schedule {
 public:
  explicit schedule(random_source& random) : random_{random} {}

  void at(nanos when, std::function<void()> what) {
    queue_.push({when < now_ ? now_ : when, random_.next(), ++number_, std::move(what)});
  }
  void in(nanos wait, std::function<void()> what) { at(now_ + wait, std::move(what)); }

  /// Does the next thing; false when there is none before `until`.
  auto step(nanos until) -> bool {
    if (queue_.empty() || queue_.top().when > until) return false;
    auto what = std::move(const_cast<entry&>(queue_.top()).what);  // it is popped at once
    now_ = queue_.top().when;
    queue_.pop();
    what();
    return true;
  }
  auto now() const noexcept -> nanos { return now_; }

 private:
  struct entry {
    nanos when;
    std::uint64_t draw;
    std::uint64_t number;
    std::function<void()> what;
    auto operator<(entry const& other) const noexcept -> bool {
      if (when != other.when) return when > other.when;
      return draw != other.draw ? draw > other.draw : number > other.number;
    }
  };

  random_source& random_;
  std::priority_queue<entry> queue_;
  nanos now_{0};
  std::uint64_t number_{0};
};

}  // namespace simulation
