// Memory of one size, kept by the thread that let go of it for the next that asks.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <new>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// An allocation takes and gives back its few blocks many at a time, which the general allocator's own caches (seven
/// of a size) do not hold. What one thread frees it keeps, up to `most` blocks; the rest is the general allocator's.
template <std::size_t Size>
class block_cache {
 public:
  static auto take() -> void* {
    auto& kept = kept_;
    if (kept.first == nullptr) return ::operator new(Size);
    auto* const out = kept.first;
    kept.first = out->next;
    --kept.count;
    return out;
  }

  static void give(void* block) noexcept {
    auto& kept = kept_;
    if (kept.count >= most) {
      ::operator delete(block);
      return;
    }
    if (kept.count == 0) at_exit_.needed = true;
    kept.first = ::new (block) link{kept.first};
    ++kept.count;
  }

 private:
  struct link {
    link* next;
  };
  static_assert(Size >= sizeof(link));
  struct blocks {
    link* first;
    std::size_t count;
  };
  struct clean_up {
    bool needed{false};
    ~clean_up() {
      while (kept_.first != nullptr) ::operator delete(take());
      kept_.count = most;  // what is freed later, by other destructors of the thread, is not kept
    }
  };
  static constexpr std::size_t most = AGONES_ALLOC_KEPT_BLOCKS;
  static inline thread_local constinit blocks kept_{nullptr, 0};
  static inline thread_local clean_up at_exit_;
};

/// Base of a class that is made and destroyed with new and delete, often.
template <class T>
struct recycled {
  static auto operator new(std::size_t) -> void* { return block_cache<sizeof(T)>::take(); }
  static auto operator new(std::size_t size, std::nothrow_t const&) noexcept -> void* {
    try {
      return operator new(size);
    } catch (std::bad_alloc const&) {
      return nullptr;
    }
  }
  static void operator delete(void* block) noexcept { block_cache<sizeof(T)>::give(block); }
  static void operator delete(void* block, std::nothrow_t const&) noexcept { block_cache<sizeof(T)>::give(block); }
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
