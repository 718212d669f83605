#pragma once

#include <agones_alloc/detail/hash.hpp>
#include <agones_alloc/detail/saturating.hpp>
#include <agones_alloc/select/rank.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Of two optional amounts: the one that is there goes first; of two, by `descending`.
inline auto compare_amounts(std::optional<std::int64_t> a, std::optional<std::int64_t> b, bool descending) noexcept
    -> std::strong_ordering {
  if (a && b) return descending ? *b <=> *a : *a <=> *b;
  return b.has_value() <=> a.has_value();
}

inline auto available_players(game_server const& server) noexcept -> std::optional<std::int64_t> {
  auto const* players = server.status.players.get();
  if (players == nullptr) return std::nullopt;
  return saturating_sub(players->capacity, players->count);
}

inline auto compare_names(game_server const& a, game_server const& b) noexcept -> std::strong_ordering {
  if (auto const order = a.meta.name <=> b.meta.name; order != 0) return order;
  return a.meta.namespace_ <=> b.meta.namespace_;
}

inline auto compare_custom(game_server const& a, game_server const& b, ranker const* custom) noexcept
    -> std::strong_ordering {
  if (custom == nullptr) return std::strong_ordering::equal;
  if (custom->before(a, b)) return std::strong_ordering::less;
  if (custom->before(b, a)) return std::strong_ordering::greater;
  return std::strong_ordering::equal;
}

/// Steps 2 to 4 of spec 5.2, behind what the reference does not look at; unknown nodes tie here and go on (Q26).
inline auto compare_loads(node_load const* a, node_load const* b) noexcept -> std::strong_ordering {
  if (a == nullptr || b == nullptr) return (a == nullptr) <=> (b == nullptr);
  if (a->closing != b->closing) return a->closing <=> b->closing;
  if (auto const order = b->allocated <=> a->allocated; order != 0) return order;
  return b->ready <=> a->ready;
}

/// All but the names.
inline auto compare_wishes(game_server const& a, game_server const& b, ranking const& order) noexcept
    -> std::strong_ordering {
  switch (order.kind) {
    case order_kind::packed:
      if (order.players) {
        auto const by_players = compare_amounts(available_players(a), available_players(b), false);
        if (by_players != 0) return by_players;
      }
      return compare_priorities(a, b, order.priorities);
    case order_kind::by_priorities:
      return compare_priorities(a, b, order.priorities);
    case order_kind::random:
      return std::strong_ordering::equal;
    case order_kind::newest_first: {
      auto const when_a = a.meta.creation_timestamp.time_since_epoch().count();
      auto const when_b = b.meta.creation_timestamp.time_since_epoch().count();
      if (when_a != when_b) return when_b <=> when_a;
      return compare_priorities(a, b, order.priorities);
    }
    case order_kind::custom:
      return compare_custom(a, b, order.custom.get());
  }
  return std::strong_ordering::equal;
}

}  // namespace detail

AGONES_ALLOC_DECL auto ranking_of(allocation_spec const& spec, feature_gates gates) -> ranking {
  ranking out;
  auto const with_priorities = gates.counts_and_lists && spec.priorities && !spec.priorities->empty();
  if (spec.scheduling == "Distributed") {
    out.kind = with_priorities ? order_kind::by_priorities : order_kind::random;
  } else {
    out.kind = order_kind::packed;
    out.players = gates.player_allocation_filter;
  }
  if (!with_priorities) return out;
  out.priorities.reserve(spec.priorities->size());
  for (auto const& wanted : *spec.priorities) {
    if (wanted.type != "Counter" && wanted.type != "List") continue;
    out.priorities.push_back({wanted.type == "List", wanted.order == "Descending", wanted.key});
  }
  return out;
}

AGONES_ALLOC_DECL auto available(game_server const& server, compiled_priority const& wanted) noexcept
    -> std::optional<std::int64_t> {
  auto const& status = server.status;
  if (wanted.list) {
    auto const at = status.lists.find(wanted.key);
    if (at == status.lists.end()) return std::nullopt;
    return detail::saturating_sub(at->second.capacity, at->second.count());
  }
  auto const at = status.counters.find(wanted.key);
  if (at == status.counters.end()) return std::nullopt;
  return detail::saturating_sub(at->second.capacity, at->second.count);
}

AGONES_ALLOC_DECL auto compare_priorities(game_server const& a, game_server const& b,
                                          std::vector<compiled_priority> const& priorities) noexcept
    -> std::strong_ordering {
  for (auto const& wanted : priorities) {
    auto const order = detail::compare_amounts(available(a, wanted), available(b, wanted), wanted.descending);
    if (order != 0) return order;
  }
  return std::strong_ordering::equal;
}

AGONES_ALLOC_DECL auto compare_static(game_server const& a, game_server const& b, ranking const& order) noexcept
    -> std::strong_ordering {
  if (auto const wishes = detail::compare_wishes(a, b, order); wishes != 0) return wishes;
  return detail::compare_names(a, b);
}

AGONES_ALLOC_DECL auto compare(game_server const& a, node_load const* load_a, game_server const& b,
                               node_load const* load_b, ranking const& order) noexcept -> std::strong_ordering {
  if (order.kind == order_kind::packed) {
    auto const allocated_a = a.status.state == game_server_state::allocated;
    auto const allocated_b = b.status.state == game_server_state::allocated;
    if (allocated_a != allocated_b) return allocated_b <=> allocated_a;
    if (auto const loads = detail::compare_loads(load_a, load_b); loads != 0) return loads;
  }
  return compare_static(a, b, order);
}

AGONES_ALLOC_DECL auto hash_value(ranking const& order) noexcept -> std::size_t {
  detail::stable_hash hash;
  hash.add(static_cast<std::uint64_t>(order.kind)).add(order.players);
  hash.add(static_cast<std::uint64_t>(order.priorities.size()));
  for (auto const& wanted : order.priorities) hash.add(wanted.list).add(wanted.descending).add(wanted.key.view());
  hash.add(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(order.custom.get())));
  return hash.value();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
