// Which of two servers goes first? (spec 5)
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Ready and Allocated servers on one node, all namespaces and fleets (spec 5.5).
struct node_load {
  std::uint32_t allocated{0};
  std::uint32_t ready{0};
  bool closing{false};  ///< cordoned, tainted or deleted: ranks after all that are not
  friend auto operator==(node_load const&, node_load const&) -> bool = default;
};

enum class order_kind : std::uint8_t {
  packed,         ///< spec 5.2, total order of its [R]
  by_priorities,  ///< spec 5.4: Distributed with priorities
  random,         ///< Distributed without priorities: uniform
  newest_first,   ///< creationTimestamp descending, then the priorities, then name: drains old sets
  custom,         ///< the user's ranker
};

struct compiled_priority {
  bool list{false};  ///< false: counter
  bool descending{false};
  shared_string key;
  friend auto operator==(compiled_priority const&, compiled_priority const&) -> bool = default;
};

/// A ranking of the user's own. Derive, or use `make_ranker` with a comparator.
/// Must be a strict weak order that depends on the two values only; ties go to name, then namespace.
/// Called on the allocator's executor (or the caller of a synchronous pick); must not throw.
class ranker {
 public:
  virtual ~ranker() = default;
  /// True when `a` is to be handed out before `b`.
  virtual auto before(game_server const& a, game_server const& b) const noexcept -> bool = 0;
};

template <class Compare>
auto make_ranker(Compare compare) -> std::shared_ptr<ranker const> {
  class by_comparator final : public ranker {
   public:
    explicit by_comparator(Compare c) : compare_{std::move(c)} {}
    auto before(game_server const& a, game_server const& b) const noexcept -> bool override { return compare_(a, b); }

   private:
    Compare compare_;
  };
  return std::make_shared<by_comparator>(std::move(compare));
}

/// What orders a view.
struct ranking {
  order_kind kind{order_kind::packed};
  bool players{false};  ///< PlayerAllocationFilter: step 5 of spec 5.2
  std::vector<compiled_priority> priorities;
  std::shared_ptr<ranker const> custom;  ///< for order_kind::custom

  friend auto operator==(ranking const&, ranking const&) -> bool = default;
};

/// The ranking Agones uses for a request (spec 5.1). A scheduling word that is not Distributed means packed.
AGONES_ALLOC_DECL auto ranking_of(allocation_spec const&, feature_gates) -> ranking;

/// capacity - count (or values), saturating; nullopt when the server lacks the counter or list.
AGONES_ALLOC_DECL auto available(game_server const&, compiled_priority const&) noexcept -> std::optional<std::int64_t>;

/// Priorities only (spec 5.3): less means `a` first.
AGONES_ALLOC_DECL auto compare_priorities(game_server const& a, game_server const& b,
                                          std::vector<compiled_priority> const&) noexcept -> std::strong_ordering;

/// Everything that does not depend on node loads, then name, then namespace. Total.
/// packed: [players,] priorities; by_priorities: priorities; newest_first: date, priorities; custom: the user's
/// ranker; random: nothing. A server with player data goes before one without (spec 5.2, [R]).
AGONES_ALLOC_DECL auto compare_static(game_server const& a, game_server const& b, ranking const&) noexcept
    -> std::strong_ordering;

/// The whole order: state and node loads first where `packed` (null load: unknown node, ranks last), then
/// compare_static. Total: equal only for one namespace and name. For `random`: name order.
AGONES_ALLOC_DECL auto compare(game_server const& a, node_load const* load_a, game_server const& b,
                               node_load const* load_b, ranking const&) noexcept -> std::strong_ordering;

/// A hash of a ranking, for looking up views. The same in every process, but for `custom`.
AGONES_ALLOC_DECL auto hash_value(ranking const&) noexcept -> std::size_t;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/select/rank.ipp>
#endif
