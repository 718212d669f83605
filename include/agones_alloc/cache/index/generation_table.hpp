// A table whose references notice when their entry is gone.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

struct table_ref {
  std::uint32_t index{0};
  std::uint32_t generation{0};  ///< 0 refers to nothing
  friend auto operator==(table_ref const&, table_ref const&) -> bool = default;
};

/// Entries keep their address; their places are used again under another generation.
template <class T>
class generation_table {
 public:
  template <class... Args>
  auto emplace(Args&&... args) -> table_ref {
    std::uint32_t index;
    if (free_.empty()) {
      index = static_cast<std::uint32_t>(places_.size());
      places_.push_back(std::make_unique<entry>());
    } else {
      index = free_.back();
      free_.pop_back();
    }
    auto& place = *places_[index];
    place.value.emplace(std::forward<Args>(args)...);
    return {index, place.generation};
  }

  /// Null when that entry is gone.
  auto get(table_ref ref) noexcept -> T* {
    if (ref.generation == 0) return nullptr;
    auto& place = *places_[ref.index];
    return place.generation == ref.generation ? &*place.value : nullptr;
  }
  /// The entry at a place, null when the place is empty.
  auto at(std::size_t index) noexcept -> T* { return places_[index]->value ? &*places_[index]->value : nullptr; }
  auto ref_at(std::size_t index) const noexcept -> table_ref {
    return {static_cast<std::uint32_t>(index), places_[index]->generation};
  }

  /// The entry must be there.
  void erase(table_ref ref) {
    auto& place = *places_[ref.index];
    place.value.reset();
    if (++place.generation == 0) place.generation = 1;
    free_.push_back(ref.index);
  }

  auto places() const noexcept -> std::size_t { return places_.size(); }
  auto size() const noexcept -> std::size_t { return places_.size() - free_.size(); }

 private:
  struct entry {
    std::uint32_t generation{1};
    std::optional<T> value;
  };
  std::vector<std::unique_ptr<entry>> places_;
  std::vector<std::uint32_t> free_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
