// The packed order of one view: nodes by load, and servers within a node (spec 5.2).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/index/entry_pool.hpp>
#include <agones_alloc/cache/index/node_table.hpp>
#include <agones_alloc/cache/index/sorted_entries.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// One cell of entries per node, and a heap of the cells that have some, by load and best entry: nodes of equal load
/// interleave by server by themselves. The heap's entries are always the best of their cells. Its loads may be out of date: best() goes
/// through what has changed since it was last asked, and puts at once what may go before the first; the rest is only marked as
/// stale, and put when the first gets as bad as the best of them. So a node whose load changes again and again costs the views that do
/// not come to it next to nothing.
class packed_order {
 public:
  auto empty() const noexcept -> bool { return heap_.empty(); }

  void insert(sort_entry const& entry, std::uint32_t node, entry_order const& before, entry_pool& pool,
              node_table& nodes) {
    if (node >= by_node_.size()) by_node_.resize(node + 1, absent);
    if (by_node_[node] == absent) {
      cells_.push_back({{}, node, absent, false});
      by_node_[node] = static_cast<std::uint32_t>(cells_.size() - 1);
    }
    auto const index = by_node_[node];
    auto& cell = cells_[index];
    cell.entries.insert(entry, before, pool);
    if (cell.heap_at == absent) {
      if (heap_.empty()) known_ = nodes.changes();
      cell.stale = false;
      heap_.push_back({rank_of(nodes[node].load), cell.entries.best(), index});
      place(heap_.size() - 1, heap_.back());
      sift_up(heap_.size() - 1, before);
    } else if (cell.entries.best().id == entry.id) {
      heap_[cell.heap_at].best = entry;
      sift_up(cell.heap_at, before);
    }
  }

  /// `make_entry` is called when the server is not the best of its cell.
  template <class MakeEntry>
  void erase(std::uint32_t id, std::uint32_t node, MakeEntry make_entry, entry_order const& before, entry_pool& pool) {
    auto& cell = cells_[by_node_[node]];
    if (cell.entries.best().id == id) {
      cell.entries.pop_best(pool);
      follow_best(cell, before);
    } else {
      cell.entries.erase(make_entry(), before, pool);
    }
  }

  /// The best entry; the order must not be empty.
  auto best(entry_order const& before, node_table& nodes) -> sort_entry const& {
    if (known_ != nodes.changes()) catch_up(before, nodes);
    for (;;) {
      auto const& first = heap_.front();
      auto& cell = cells_[first.cell];
      if (cell.stale) {
        cell.stale = false;
        put(cell, rank_of(nodes[cell.node].load), before);
      } else if (first.load < best_stale_) {
        return first.best;
      } else {
        freshen(before, nodes);
      }
    }
  }
  /// The entry after `depth` better ones, if the node stays the first and no load changes.
  auto ahead(std::size_t depth) const noexcept -> sort_entry const* {
    return cells_[heap_.front().cell].entries.ahead(depth);
  }

  /// Takes the entry that best() returned.
  void pop_best(entry_order const& before, entry_pool& pool) {
    auto& cell = cells_[heap_.front().cell];
    cell.entries.pop_best(pool);
    follow_best(cell, before);
  }

 private:
  static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t ways = 4;

  struct node_cell {
    sorted_entries entries;
    std::uint32_t node;
    std::uint32_t heap_at;
    bool stale;  ///< its load in the heap may be out of date
  };
  struct heap_item {
    std::uint64_t load;  ///< less goes first
    sort_entry best;
    std::uint32_t cell;
  };

  static auto rank_of(node_load load) noexcept -> std::uint64_t {
    constexpr auto last = std::uint64_t{1} << 63;
    auto const by_counts = ~(std::uint64_t{load.allocated} << 32 | load.ready);
    return load.closing ? by_counts | last : by_counts & ~last;
  }
  static auto goes_first(heap_item const& a, heap_item const& b, entry_order const& before) noexcept -> bool {
    return a.load != b.load ? a.load < b.load : before(a.best, b.best);
  }
  void place(std::size_t at, heap_item const& item) noexcept {
    heap_[at] = item;
    cells_[item.cell].heap_at = static_cast<std::uint32_t>(at);
  }

  /// The best entry of a cell was taken out.
  void follow_best(node_cell& changed, entry_order const& before) {
    auto const at = changed.heap_at;
    if (!changed.entries.empty()) {
      heap_[at].best = changed.entries.best();
      sift_down(at, before);
      return;
    }
    changed.heap_at = absent;
    auto const last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    place(at, last);
    sift_up(at, before);
    sift_down(cells_[last.cell].heap_at, before);
  }

  void sift_up(std::size_t at, entry_order const& before) noexcept {
    auto const item = heap_[at];
    while (at != 0) {
      auto const parent = (at - 1) / ways;
      if (!goes_first(item, heap_[parent], before)) break;
      place(at, heap_[parent]);
      at = parent;
    }
    place(at, item);
  }

  void sift_down(std::size_t at, entry_order const& before) noexcept {
    auto const item = heap_[at];
    for (;;) {
      auto const first = at * ways + 1;
      if (first >= heap_.size()) break;
      auto const end = std::min(first + ways, heap_.size());
      auto least = first;
      for (auto child = first + 1; child < end; ++child) {
        if (goes_first(heap_[child], heap_[least], before)) least = child;
      }
      if (!goes_first(heap_[least], item, before)) break;
      place(at, heap_[least]);
      at = least;
    }
    place(at, item);
  }

  /// A cell's load in the heap becomes that.
  void put(node_cell const& cell, std::uint64_t load, entry_order const& before) noexcept {
    auto const was = std::exchange(heap_[cell.heap_at].load, load);
    if (load < was) sift_up(cell.heap_at, before);
    if (was < load) sift_down(cell.heap_at, before);
  }

  /// Goes through the changes since it was last asked.
  void catch_up(entry_order const& before, node_table& nodes) {
    auto const number = nodes.changes() - known_;
    if (number > node_table::history || number > 2 * heap_.size()) {
      known_ = nodes.changes();
      return make_anew(before, nodes);
    }
    for (; known_ != nodes.changes(); ++known_) {
      auto const node = nodes.changed(known_);
      auto const index = node < by_node_.size() ? by_node_[node] : absent;
      if (index == absent) continue;
      auto& cell = cells_[index];
      if (cell.heap_at == absent) continue;
      auto const load = rank_of(nodes[node].load);
      if (load <= heap_.front().load) {
        put(cell, load, before);
        continue;
      }
      best_stale_ = std::min(best_stale_, load);
      if (std::exchange(cell.stale, true)) continue;
      stale_.push_back(index);
    }
    if (stale_.size() > 2 * cells_.size()) freshen(before, nodes);  // most of them were put meanwhile
  }

  /// Puts all that are stale.
  void freshen(entry_order const& before, node_table& nodes) {
    if (stale_.size() > heap_.size() / 8) return make_anew(before, nodes);
    // They are far apart in memory: asking for all of them at once costs little more than for one.
    for (auto const index : stale_) __builtin_prefetch(&cells_[index]);
    for (auto const index : stale_) {
      auto const& cell = cells_[index];
      __builtin_prefetch(&nodes[cell.node]);
      if (cell.heap_at != absent) __builtin_prefetch(&heap_[cell.heap_at]);
    }
    for (auto const index : stale_) {
      auto& cell = cells_[index];
      if (std::exchange(cell.stale, false) && cell.heap_at != absent) put(cell, rank_of(nodes[cell.node].load), before);
    }
    none_stale();
  }

  void make_anew(entry_order const& before, node_table& nodes) {
    for (auto const index : stale_) cells_[index].stale = false;
    none_stale();
    for (auto& item : heap_) item.load = rank_of(nodes[cells_[item.cell].node].load);
    if (heap_.size() < 2) return;
    for (auto at = (heap_.size() - 2) / ways + 1; at-- != 0;) sift_down(at, before);
  }

  void none_stale() noexcept {
    stale_.clear();
    best_stale_ = std::numeric_limits<std::uint64_t>::max();
  }

  std::vector<node_cell> cells_;
  std::vector<std::uint32_t> by_node_;  ///< cells
  std::vector<heap_item> heap_;
  std::vector<std::uint32_t> stale_;  ///< cells that are stale, and some that were
  std::uint64_t best_stale_{std::numeric_limits<std::uint64_t>::max()};  ///< no stale cell's true load is less
  std::uint64_t known_{0};  ///< changes of loads that were looked at
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
