// Who is to be woken when: a heap that every entry can leave at any time.
#pragma once

#include <agones_alloc/config.hpp>

#include <chrono>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Holds pointers to entries, which remember their place: no search, and never more than one per entry.
class wake_queue {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();
  struct entry {
    time_point when{time_point::max()};
    std::size_t place{absent};
  };

  /// Sets or changes the time; time_point::max() is never.
  void set(entry& e, time_point when) {
    if (e.when == when) return;
    if (when == time_point::max()) return remove(e);
    if (e.place == absent) {
      heap_.push_back(&e);  // first: it may throw
      e.place = heap_.size() - 1;
    }
    e.when = when;
    up(e.place);
    down(e.place);
  }

  void remove(entry& e) {
    e.when = time_point::max();
    if (e.place == absent) return;
    auto const hole = std::exchange(e.place, absent);
    auto* const last = heap_.back();
    heap_.pop_back();
    if (last == &e) return;
    put(hole, last);
    up(last->place);
    down(last->place);
  }

  auto next() const noexcept -> time_point { return heap_.empty() ? time_point::max() : heap_.front()->when; }

  /// Takes out one entry that is due; null when there is none.
  auto take_due(time_point now) -> entry* {
    if (heap_.empty() || heap_.front()->when > now) return nullptr;
    auto* const first = heap_.front();
    remove(*first);
    return first;
  }

 private:
  void put(std::size_t place, entry* e) {
    heap_[place] = e;
    e->place = place;
  }
  void up(std::size_t place) {
    auto* const e = heap_[place];
    for (; place > 0 && e->when < heap_[(place - 1) / 2]->when; place = (place - 1) / 2) put(place, heap_[(place - 1) / 2]);
    put(place, e);
  }
  void down(std::size_t place) {
    auto* const e = heap_[place];
    while (true) {
      auto child = 2 * place + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1]->when < heap_[child]->when) ++child;
      if (e->when <= heap_[child]->when) break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, e);
  }

  std::vector<entry*> heap_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
