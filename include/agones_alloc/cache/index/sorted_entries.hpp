// Entries in order, the best at hand: sorted runs of up to 128 entries.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/index/entry_pool.hpp>
#include <agones_alloc/cache/index/sort_entry.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Within a run the best entry is the last one, so taking it moves nothing. The run that holds the best entries
/// stands apart: most sets fit in it. Memory belongs to the pool; there is nothing to destroy.
/// Erasing needs the entry as it was inserted, and servers that still compare as they did then.
class sorted_entries {
 public:
  auto empty() const noexcept -> bool { return best_.size == 0; }
  auto best() const noexcept -> sort_entry const& { return best_.data[best_.size - 1]; }

  /// How many of the best can be looked at without going far.
  auto at_hand() const noexcept -> std::size_t { return best_.size; }
  /// The one after `depth` better ones, as far as it is at hand.
  auto ahead(std::size_t depth) const noexcept -> sort_entry const* {
    return depth < best_.size ? best_.data + best_.size - 1 - depth : nullptr;
  }

  void insert(sort_entry const& entry, entry_order const& before, entry_pool& pool) {
    if (rest_.empty() || !before(best_.data[0], entry)) {
      insert_into(best_, entry, before, pool);
      if (best_.size == entry_pool::largest) rest_.push_back(split(best_, pool));
      return;
    }
    auto const at = rest_.begin() + find_rest(entry, before);
    insert_into(at->entries, entry, before, pool);
    at->worst = at->entries.data[0];
    if (at->entries.size == entry_pool::largest) {
      auto const worse = split(at->entries, pool);
      at->worst = at->entries.data[0];
      rest_.insert(at, worse);
    }
  }

  void pop_best(entry_pool& pool) {
    --best_.size;
    if (best_.size == 0) refill(pool);
  }

  void erase(sort_entry const& entry, entry_order const& before, entry_pool& pool) {
    if (rest_.empty() || !before(best_.data[0], entry)) {
      erase_from(best_, entry, before);
      if (best_.size == 0) refill(pool);
      return;
    }
    auto const index = find_rest(entry, before);
    auto& run = rest_[static_cast<std::size_t>(index)];
    erase_from(run.entries, entry, before);
    if (run.entries.size == 0) {
      pool.release(run.entries.data, run.entries.capacity);
      rest_.erase(rest_.begin() + index);
      return;
    }
    run.worst = run.entries.data[0];
    merge(index, pool);
  }

 private:
  struct entry_run {
    sort_entry* data{nullptr};
    std::uint32_t size{0};
    std::uint32_t capacity{0};
  };
  struct bounded_run {
    sort_entry worst;  ///< a copy of the first entry, to find the run without looking into it
    entry_run entries;
  };

  /// The last of rest_ whose worst entry is not better than `entry`, or the first.
  auto find_rest(sort_entry const& entry, entry_order const& before) const noexcept -> std::ptrdiff_t {
    auto const after = std::partition_point(rest_.begin(), rest_.end(), [&](bounded_run const& candidate) {
      return !before(candidate.worst, entry);
    });
    return std::max<std::ptrdiff_t>(after - rest_.begin() - 1, 0);
  }

  static auto position(entry_run const& in, sort_entry const& entry, entry_order const& before) noexcept -> sort_entry* {
    return std::partition_point(in.data, in.data + in.size, [&](sort_entry const& e) { return before(entry, e); });
  }

  static void insert_into(entry_run& in, sort_entry const& entry, entry_order const& before, entry_pool& pool) {
    if (in.size == in.capacity) grow(in, pool);
    auto* const at = position(in, entry, before);
    std::copy_backward(at, in.data + in.size, in.data + in.size + 1);
    *at = entry;
    ++in.size;
  }

  static void erase_from(entry_run& in, sort_entry const& entry, entry_order const& before) noexcept {
    auto* at = position(in, entry, before);
    auto* const end = in.data + in.size;
    if (at == end || at->id != entry.id) {  // a ranker of the user's that is no order: stay within bounds
      at = std::find_if(in.data, end, [&](sort_entry const& e) { return e.id == entry.id; });
      if (at == end) return;
    }
    std::copy(at + 1, end, at);
    --in.size;
  }

  static void grow(entry_run& in, entry_pool& pool) {
    auto const capacity = in.capacity == 0 ? entry_pool::smallest : in.capacity * 2;
    auto* const data = pool.allocate(capacity);
    std::copy(in.data, in.data + in.size, data);
    if (in.capacity != 0) pool.release(in.data, in.capacity);
    in.data = data;
    in.capacity = capacity;
  }

  /// Takes the worse half out of a full run.
  static auto split(entry_run& full, entry_pool& pool) -> bounded_run {
    auto const half = full.size / 2;
    entry_run worse{pool.allocate(full.capacity), half, full.capacity};
    std::copy(full.data, full.data + half, worse.data);
    std::copy(full.data + half, full.data + full.size, full.data);
    full.size -= half;
    return {worse.data[0], worse};
  }

  /// Puts a run that became small in front of its better neighbour.
  void merge(std::ptrdiff_t index, entry_pool& pool) {
    auto const at = rest_.begin() + index;
    if (at->entries.size >= entry_pool::largest / 4 || at + 1 == rest_.end()) return;
    auto& into = (at + 1)->entries;
    auto const sum = at->entries.size + into.size;
    if (sum > entry_pool::largest / 2) return;
    while (into.capacity <= sum) grow(into, pool);
    std::copy_backward(into.data, into.data + into.size, into.data + sum);
    std::copy(at->entries.data, at->entries.data + at->entries.size, into.data);
    into.size = sum;
    (at + 1)->worst = into.data[0];
    pool.release(at->entries.data, at->entries.capacity);
    rest_.erase(at);
  }

  void refill(entry_pool& pool) {
    pool.release(best_.data, best_.capacity);
    best_ = {};
    if (rest_.empty()) return;
    best_ = rest_.back().entries;
    rest_.pop_back();
  }

  entry_run best_;
  std::vector<bounded_run> rest_;  // the better ones behind; all worse than best_
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
