// Counts the owners of a shared block.
#pragma once

#include <agones_alloc/config.hpp>

#include <atomic>
#include <cstdint>
#include <memory>  // for what the standard library's own shared pointers ask

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// True while the process has one thread, where the standard library knows: atomic steps are not needed then.
AGONES_ALLOC_INLINE auto one_thread() noexcept -> bool {
#if defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE >= 11
  return __gnu_cxx::__is_single_threaded();
#else
  return false;
#endif
}

/// Begins at one.
class reference_count {
 public:
  AGONES_ALLOC_INLINE void add() noexcept {
    if (one_thread()) {
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      count_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  /// True: that was the last owner.
  AGONES_ALLOC_INLINE auto drop() noexcept -> bool {
    if (alone()) return true;  // nobody else can become an owner meanwhile
    if (one_thread()) {
      count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
      return false;
    }
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// True for the only owner, after all that others did.
  AGONES_ALLOC_INLINE auto alone() const noexcept -> bool { return count_.load(std::memory_order_acquire) == 1; }

 private:
  std::atomic<std::uint32_t> count_{1};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
