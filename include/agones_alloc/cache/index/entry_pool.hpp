// Memory for runs of sort entries: few sizes, taken from slabs, given back all at once.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/index/sort_entry.hpp>

#include <algorithm>
#include <bit>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Of one view. The general allocator stalls for tens of milliseconds when it tidies up a million small blocks.
class entry_pool {
 public:
  static constexpr std::uint32_t smallest = 2;
  static constexpr std::uint32_t largest = 128;

  /// `capacity` is smallest times a power of two, at most largest.
  auto allocate(std::uint32_t capacity) -> sort_entry* {
    auto& spare = spare_[size_class(capacity)];
    if (!spare.empty()) {
      auto* const out = spare.back();
      spare.pop_back();
      return out;
    }
    if (left_ < capacity) add_slab(capacity);
    left_ -= capacity;
    return std::exchange(next_, next_ + capacity);
  }

  void release(sort_entry* entries, std::uint32_t capacity) { spare_[size_class(capacity)].push_back(entries); }

 private:
  static auto size_class(std::uint32_t capacity) noexcept -> std::size_t {
    return static_cast<std::size_t>(std::countr_zero(capacity / smallest));
  }

  void add_slab(std::uint32_t capacity) {
    // What is left of the old slab is too small for this run, but not for others.
    for (auto part = capacity / 2; part >= smallest; part /= 2) {
      if (left_ < part) continue;
      release(next_, part);
      next_ += part;
      left_ -= part;
    }
    auto const entries = std::clamp<std::size_t>(slabs_.size() * 64, capacity, 8192);
    slabs_.push_back(std::make_unique_for_overwrite<sort_entry[]>(entries));
    next_ = slabs_.back().get();
    left_ = entries;
  }

  std::vector<std::unique_ptr<sort_entry[]>> slabs_;
  sort_entry* next_{nullptr};
  std::size_t left_{0};
  std::array<std::vector<sort_entry*>, 7> spare_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
