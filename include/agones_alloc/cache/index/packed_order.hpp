// The packed order of one view: nodes by load, and servers within a node (spec 5.2).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/index/entry_pool.hpp>
#include <agones_alloc/cache/index/node_table.hpp>
#include <agones_alloc/cache/index/sorted_entries.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// One cell of entries per node, and a heap of the cells that have some, by load and best entry: nodes of equal load
/// interleave by server by themselves. The heap's entries are always the best of their cells; its loads may be
/// out of date, but only for cells in the list of dirty ones, which best() works off first. So a node whose load
/// changes again and again costs the views that are not asked nothing.
class packed_order {
 public:
  auto empty() const noexcept -> bool { return heap_.empty(); }

  void insert(sort_entry const& entry, std::uint32_t node, entry_order const& before, entry_pool& pool,
              node_table& nodes, clean_cell self) {
    auto const made = by_node_.try_emplace(node, static_cast<std::uint32_t>(cells_.size()));
    if (made.second) cells_.push_back({{}, node, absent, false});
    auto const index = made.first->second;
    auto& cell = cells_[index];
    cell.entries.insert(entry, before, pool);
    if (!cell.listed) {
      cell.listed = true;
      self.cell = index;
      nodes[node].clean.push_back(self);
    }
    if (cell.heap_at == absent) {
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
    auto& cell = cells_[by_node_.find(node)->second];
    if (cell.entries.best().id == id) {
      cell.entries.pop_best(pool);
      follow_best(cell, before);
    } else {
      cell.entries.erase(make_entry(), before, pool);
    }
  }

  /// A cell's node has another load. Any index that was handed out will do.
  void mark_dirty(std::uint32_t cell) { dirty_.push_back(cell); }

  /// The best entry; the order must not be empty.
  auto best(entry_order const& before, node_table& nodes, clean_cell self) -> sort_entry const& {
    if (!dirty_.empty()) clean(before, nodes, self);
    return heap_.front().best;
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
    bool listed;  ///< among the node's clean cells, or dirty
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

  /// Dirty cells are far apart in memory: asking for all of them at once costs little more than for one.
  void bring_near(node_table& nodes) const noexcept {
    for (auto const index : dirty_) __builtin_prefetch(&cells_[index]);
    for (auto const index : dirty_) {
      auto const& cell = cells_[index];
      __builtin_prefetch(&nodes[cell.node]);
      if (cell.heap_at != absent) __builtin_prefetch(&heap_[cell.heap_at]);
    }
  }

  void clean(entry_order const& before, node_table& nodes, clean_cell self) {
    auto const many = dirty_.size() > heap_.size() / 8;
    bring_near(nodes);
    for (auto const index : dirty_) {
      auto& cell = cells_[index];
      if (cell.heap_at == absent) {
        cell.listed = false;
        continue;
      }
      auto& node = nodes[cell.node];
      self.cell = index;
      node.clean.push_back(self);
      auto const load = rank_of(node.load);
      if (heap_[cell.heap_at].load == load) continue;
      auto const better = load < std::exchange(heap_[cell.heap_at].load, load);
      if (many) continue;
      if (better) {
        sift_up(cell.heap_at, before);
      } else {
        sift_down(cell.heap_at, before);
      }
    }
    dirty_.clear();
    if (!many || heap_.size() < 2) return;
    for (auto at = (heap_.size() - 2) / ways + 1; at-- != 0;) sift_down(at, before);
  }

  std::vector<node_cell> cells_;
  boost::unordered_flat_map<std::uint32_t, std::uint32_t> by_node_;
  std::vector<heap_item> heap_;
  std::vector<std::uint32_t> dirty_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
