// Messages from any thread to one consumer, in order.
#pragma once

#include <agones_alloc/config.hpp>

#include <atomic>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Intrusive, lock-free, unbounded by itself: whoever owns the messages bounds them. A message may be in the
/// inbox once at a time.
class inbox {
 public:
  struct message {
    message* next{nullptr};
  };

  /// Any thread. In one order with what is done to other atomics in sequence: who finds that nobody looks yet must be found by
  /// whoever stops looking.
  void push(message& m) noexcept {
    m.next = newest_.load(std::memory_order_relaxed);
    while (!newest_.compare_exchange_weak(m.next, &m, std::memory_order_seq_cst, std::memory_order_relaxed)) {
    }
  }
  auto empty() const noexcept -> bool { return newest_.load(std::memory_order_seq_cst) == nullptr; }

  /// The consumer: everything, oldest first, linked by `next`.
  auto take() noexcept -> message* {
    auto* m = newest_.exchange(nullptr, std::memory_order_acquire);
    message* oldest = nullptr;
    while (m != nullptr) {
      auto* const older = m->next;
      m->next = oldest;
      oldest = m;
      m = older;
    }
    return oldest;
  }

 private:
  std::atomic<message*> newest_{nullptr};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
