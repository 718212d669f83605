// Small blocks of memory, kept by the thread that let go of them for the next that asks.
#pragma once

#include <agones_alloc/config.hpp>

#include <array>
#include <cstddef>
#include <new>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Servers are copied and dropped many at a time; the general allocator's own caches hold seven blocks of a size. Sizes are
/// rounded as it would round them (16 bytes apart, 8 of them its own), so nothing is lost. Larger blocks are its affair.
class small_blocks {
 public:
  static constexpr std::size_t largest = 504;

  AGONES_ALLOC_INLINE static auto take(std::size_t size) -> void* {
    if (size > largest) return ::operator new(size);
    auto const index = class_of(size);
    auto& kept = kept_[index];
    auto* const out = kept.first;
    if (out == nullptr) return ::operator new(index * step + step / 2);
    kept.first = out->next;
    --kept.count;
    return out;
  }

  /// `size` as it was taken.
  AGONES_ALLOC_INLINE static void give(void* block, std::size_t size) noexcept {
    if (size > largest) return ::operator delete(block);
    auto& kept = kept_[class_of(size)];
    if (kept.count >= most_) return give_back(block);
    kept.first = ::new (block) link{kept.first};
    ++kept.count;
  }

 private:
  static constexpr std::size_t step = 16;
  static constexpr std::size_t classes = (largest + step / 2) / step + 1;
  static constexpr auto class_of(std::size_t size) noexcept -> std::size_t { return (size + step / 2 - 1) / step; }

  struct link {
    link* next;
  };
  struct blocks {
    link* first;
    std::size_t count;
  };
  struct clean_up {
    bool needed;
    ~clean_up() {
      most_ = 0;  // what is freed later, by other destructors of the thread, is not kept
      closed_ = true;
      for (auto& kept : kept_) {
        while (kept.first != nullptr) {
          auto* const next = kept.first->next;
          ::operator delete(static_cast<void*>(kept.first));
          kept.first = next;
        }
      }
    }
  };

  // The thread's first block, or one too many.
  [[gnu::noinline]] static void give_back(void* block) noexcept {
    ::operator delete(block);
    if (most_ != 0 || closed_) return;
    at_exit_.needed = true;
    most_ = AGONES_ALLOC_KEPT_BLOCKS;
  }

  static inline thread_local constinit std::array<blocks, classes> kept_{};
  static inline thread_local constinit std::size_t most_{0};
  static inline thread_local constinit bool closed_{false};
  static inline thread_local clean_up at_exit_{};
};

/// For one object at a time: allocate_shared, handlers.
template <class T>
struct small_block_allocator {
  using value_type = T;
  small_block_allocator() noexcept = default;
  template <class Other>
  small_block_allocator(small_block_allocator<Other> const&) noexcept {}

  auto allocate(std::size_t count) -> T* {
    if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{alignof(T)}));
    } else {
      return static_cast<T*>(small_blocks::take(count * sizeof(T)));
    }
  }
  void deallocate(T* block, std::size_t count) noexcept {
    if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      ::operator delete(block, std::align_val_t{alignof(T)});
    } else {
      small_blocks::give(block, count * sizeof(T));
    }
  }
  template <class Other>
  friend auto operator==(small_block_allocator const&, small_block_allocator<Other> const&) noexcept -> bool {
    return true;
  }
};

template <>
struct small_block_allocator<void> {
  using value_type = void;
  small_block_allocator() noexcept = default;
  template <class Other>
  small_block_allocator(small_block_allocator<Other> const&) noexcept {}
  template <class Other>
  friend auto operator==(small_block_allocator const&, small_block_allocator<Other> const&) noexcept -> bool {
    return true;
  }
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
