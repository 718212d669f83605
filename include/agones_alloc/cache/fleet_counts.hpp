// The recount of one fleet: sums over its servers, to which a change of one costs what it changes.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/fleet_info.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <boost/container/flat_map.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Servers are added and removed as they were added; a server whose state alone changes costs a few additions.
/// Counter sums saturate when they are read, and come back when they shrink.
///
/// Who adds a server keeps its `node_place` for it, and gives it back with every further word about that server: a
/// node is looked up by its name only when a server comes to it. Thread safety: none.
class fleet_counts {
 public:
  struct node_counts {
    std::int32_t total{0};
    std::int32_t ready{0};
    std::int32_t allocated{0};
  };
  using node_map = std::map<shared_string, node_counts, std::less<>>;

  /// Where a server is counted as one of its node; null for one that is on no node, or is being deleted.
  using node_place = node_map::value_type*;

  AGONES_ALLOC_DECL void add(game_server const&, node_place&);
  AGONES_ALLOC_DECL void remove(game_server const&, node_place&);
  /// `now` in the place of `before`, which was added. False: nothing that is counted is different.
  AGONES_ALLOC_DECL auto replace(game_server const& before, game_server const& now, node_place&) -> bool;
  /// Asks for the memory that replace() will change.
  AGONES_ALLOC_DECL void bring_near() const noexcept;
  AGONES_ALLOC_DECL auto recount() const -> fleet_recount;
  auto servers() const noexcept -> std::int64_t { return servers_; }  ///< added ones, being deleted or not

 private:
  /// Exact where an int64 would overflow, so that what was added can be taken out again.
  class wide {
   public:
    void add(std::int64_t value, int sign) noexcept {
      high_ += sign * (value >> 32);
      low_ += sign * (value & 0xffffffff);
    }
    AGONES_ALLOC_DECL auto value() const noexcept -> std::int64_t;  ///< clamped
   private:
    std::int64_t high_{0};
    std::int64_t low_{0};
  };
  struct sums {
    std::int64_t servers{0};
    wide count, capacity, allocated_count, allocated_capacity, free;
    AGONES_ALLOC_DECL void put(std::int64_t count, std::int64_t capacity, game_server_state, int sign);
    void put_state(std::int64_t count, std::int64_t capacity, game_server_state, int sign) noexcept;
    AGONES_ALLOC_DECL auto info() const -> capacity_info;
  };
  using sums_by_name = std::map<shared_string, sums, std::less<>>;

  void put_server(game_server const&, int sign);
  void put_state(game_server_state state, int sign) noexcept { states_[static_cast<std::size_t>(state)] += sign; }
  void join_node(game_server_status const&, node_place&);
  void leave_node(game_server_status const&, node_place&);
  AGONES_ALLOC_DECL void put_capacities(game_server_status const&, int sign);
  void move_capacities(game_server_status const&, game_server_state before);
  AGONES_ALLOC_DECL static auto infos(sums_by_name const&) -> named_map<capacity_info>;

  std::int64_t servers_{0};
  std::int32_t total_{0};
  std::int32_t shutting_down_{0};
  std::array<std::int32_t, game_server_states> states_{};
  sums players_;
  sums_by_name counters_;
  sums_by_name lists_;
  node_map nodes_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/cache/fleet_counts.ipp>
#endif
