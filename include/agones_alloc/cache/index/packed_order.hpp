// The packed order of one view: nodes by load, and servers within a node (spec 5.2).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/index/entry_pool.hpp>
#include <agones_alloc/cache/index/node_table.hpp>
#include <agones_alloc/cache/index/sorted_entries.hpp>
#include <agones_alloc/detail/bring_near.hpp>

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
    if (node >= places_.size()) {
      places_.resize(node + 1);
      states_.resize(node + 1, state::absent);
    }
    auto& place_of_it = places_[node];
    if (place_of_it.cell == none) {
      cells_.emplace_back();
      place_of_it.cell = static_cast<std::uint32_t>(cells_.size() - 1);
    }
    auto& entries = cells_[place_of_it.cell];
    entries.insert(entry, before, pool);
    if (states_[node] == state::absent) {
      if (heap_.empty()) known_ = nodes.changes();
      states_[node] = state::fresh;
      heap_.push_back({rank_of(nodes[node].load), entries.best(), node});
      sift_up(heap_.size() - 1, before);
    } else if (entries.best().id == entry.id) {
      heap_[place_of_it.heap_at].best = entry;
      sift_up(place_of_it.heap_at, before);
    }
  }

  /// `make_entry` is called when the server is not the best of its cell.
  template <class MakeEntry>
  void erase(std::uint32_t id, std::uint32_t node, MakeEntry make_entry, entry_order const& before, entry_pool& pool) {
    auto& entries = cells_[places_[node].cell];
    if (entries.best().id == id) {
      entries.pop_best(pool);
      follow_best(node, before);
    } else {
      entries.erase(make_entry(), before, pool);
    }
  }

  /// The best entry; the order must not be empty.
  auto best(entry_order const& before, node_table& nodes) -> sort_entry const& {
    if (known_ != nodes.changes()) catch_up(before, nodes);
    for (;;) {
      auto const& first = heap_.front();
      if (states_[first.node] == state::stale) {
        states_[first.node] = state::fresh;
        put(first.node, rank_of(nodes[first.node].load), before);
      } else if (first.load < best_stale_) {
        return first.best;
      } else {
        freshen(before, nodes);
      }
    }
  }
  /// The entry after `depth` better ones, as far as it is at hand, if no load changes: of the first node, then of the second.
  auto ahead(std::size_t depth, entry_order const& before) const noexcept -> sort_entry const* {
    auto const& entries = cell_of(heap_.front());
    if (depth < entries.at_hand()) return entries.ahead(depth);
    if (heap_.size() == 1) return nullptr;
    std::size_t second = 1;
    for (std::size_t at = 2; at <= ways && at < heap_.size(); ++at) {
      if (goes_first(heap_[at], heap_[second], before)) second = at;
    }
    return cell_of(heap_[second]).ahead(depth - entries.at_hand());
  }

  /// Takes the entry that best() returned.
  void pop_best(entry_order const& before, entry_pool& pool) {
    auto const node = heap_.front().node;
    cells_[places_[node].cell].pop_best(pool);
    follow_best(node, before);
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t ways = 4;

  struct place_of_node {
    std::uint32_t cell{none};
    std::uint32_t heap_at{none};  ///< while it is not absent
  };
  enum class state : std::uint8_t {
    absent,  ///< not in the heap
    fresh,
    stale,   ///< its load in the heap may be out of date
  };
  struct heap_item {
    std::uint64_t load;  ///< less goes first
    sort_entry best;
    std::uint32_t node;
  };

  static auto rank_of(node_load load) noexcept -> std::uint64_t {
    constexpr auto last = std::uint64_t{1} << 63;
    auto const by_counts = ~(std::uint64_t{load.allocated} << 32 | load.ready);
    return load.closing ? by_counts | last : by_counts & ~last;
  }
  static auto goes_first(heap_item const& a, heap_item const& b, entry_order const& before) noexcept -> bool {
    return a.load != b.load ? a.load < b.load : before(a.best, b.best);
  }
  auto cell_of(heap_item const& item) const noexcept -> sorted_entries const& { return cells_[places_[item.node].cell]; }
  void place(std::size_t at, heap_item const& item) noexcept {
    heap_[at] = item;
    places_[item.node].heap_at = static_cast<std::uint32_t>(at);
  }

  /// The best entry of a node's cell was taken out.
  void follow_best(std::uint32_t node, entry_order const& before) {
    auto const at = places_[node].heap_at;
    auto const& entries = cells_[places_[node].cell];
    if (!entries.empty()) {
      heap_[at].best = entries.best();
      sift_down(at, before);
      return;
    }
    states_[node] = state::absent;
    auto const last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    place(at, last);
    sift_up(at, before);
    sift_down(places_[last.node].heap_at, before);
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

  /// A node's load in the heap becomes that.
  void put(std::uint32_t node, std::uint64_t load, entry_order const& before) noexcept {
    auto const at = places_[node].heap_at;
    auto const was = std::exchange(heap_[at].load, load);
    if (load < was) sift_up(at, before);
    if (was < load) sift_down(at, before);
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
      if (node >= states_.size() || states_[node] == state::absent) continue;
      auto const load = rank_of(nodes[node].load);
      if (load <= heap_.front().load) {
        put(node, load, before);
        continue;
      }
      best_stale_ = std::min(best_stale_, load);
      if (std::exchange(states_[node], state::stale) == state::fresh) stale_.push_back(node);
    }
    if (stale_.size() > 2 * cells_.size()) freshen(before, nodes);  // most of them were put meanwhile
  }

  /// Puts all that are stale.
  void freshen(entry_order const& before, node_table& nodes) {
    if (stale_.size() > heap_.size() / 8) return make_anew(before, nodes);
    // They are far apart in memory: asking for all of them at once costs little more than for one.
    for (auto const node : stale_) bring_near(&places_[node]);
    for (auto const node : stale_) {
      if (states_[node] == state::stale) bring_near(&heap_[places_[node].heap_at]);
    }
    for (auto const node : stale_) {
      if (states_[node] != state::stale) continue;
      states_[node] = state::fresh;
      put(node, rank_of(nodes[node].load), before);
    }
    none_stale();
  }

  void make_anew(entry_order const& before, node_table& nodes) {
    for (auto const node : stale_) {
      if (states_[node] == state::stale) states_[node] = state::fresh;
    }
    none_stale();
    for (auto& item : heap_) item.load = rank_of(nodes[item.node].load);
    if (heap_.size() < 2) return;
    for (auto at = (heap_.size() - 2) / ways + 1; at-- != 0;) sift_down(at, before);
  }

  void none_stale() noexcept {
    stale_.clear();
    best_stale_ = std::numeric_limits<std::uint64_t>::max();
  }

  std::vector<sorted_entries> cells_;
  std::vector<place_of_node> places_;  ///< by node
  std::vector<state> states_;          ///< by node: apart, for most changes are of nodes that are absent here
  std::vector<heap_item> heap_;
  std::vector<std::uint32_t> stale_;  ///< nodes that are stale, and some that were
  std::uint64_t best_stale_{std::numeric_limits<std::uint64_t>::max()};  ///< no stale node's true load is less
  std::uint64_t known_{0};  ///< changes of loads that were looked at
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
