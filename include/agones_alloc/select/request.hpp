// An allocation request that was defaulted, validated and compiled: immutable and shared.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/select/match.hpp>
#include <agones_alloc/select/rank.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What a view of the index is keyed by: one namespace, one selector, one ranking.
struct view_shape {
  shared_string namespace_;
  compiled_selector selector;
  ranking order;
  std::size_t hash{0};  ///< of all the above, computed once
  std::uint64_t serial{0};  ///< the same for copies alone, so that those are known as equal at once; 0: none

  friend auto operator==(view_shape const& a, view_shape const& b) -> bool {
    if (a.serial == b.serial && a.serial != 0) return true;
    return a.hash == b.hash && a.namespace_ == b.namespace_ && a.selector == b.selector && a.order == b.order;
  }
};

/// Allocation by name.
struct target_server {
  shared_string name;
  shared_string uid;    ///< "" for any
  bool required{true};  ///< false: preferred, falls back to the ranking
};

/// How to choose, beyond what the wire format says. Defaults: as Agones.
struct choice_options {
  std::optional<order_kind> order;        ///< overrides scheduling; `custom` needs `custom` below
  std::shared_ptr<ranker const> custom;
  std::uint32_t top_n{1};  ///< random among the best N (1 to 1024): fewer conflicts between replicas, looser packing
  std::optional<target_server> target;
  /// Take only a server on which every counter and list action of the request fits: an increment by what is left of the capacity,
  /// a decrement by the count, added list values by the room. Otherwise what does not fit is cut off, as the reference does (Q15,
  /// Q16). Actions that set a capacity, too, are not looked at.
  bool exact{false};
  /// Of the servers that match a selector, those of this share go first (1 to 1024 shares); when it has none left, a draw
  /// from the best 256 of all. Replicas of one cluster with a share each hardly ever meet at a server. Costs a second
  /// view per request shape.
  server_share prefer{};
};

class allocation_request;
using request_ptr = std::shared_ptr<allocation_request const>;

/// Immutable once made; keep it and use it for many allocations, from any thread.
class allocation_request {
 public:
  /// Applies defaults (spec 2.2), validates (2.4), converts deprecated fields and compiles. The namespace is
  /// `gsa.meta.namespace_`. Returns every problem with its field path when there is one.
  static AGONES_ALLOC_DECL auto make(game_server_allocation gsa, feature_gates gates = {}, choice_options choice = {})
      -> std::variant<request_ptr, field_errors>;

  /// The request with defaults and converted selectors applied; its status is empty (Q6).
  auto allocation() const noexcept -> game_server_allocation const& { return gsa_; }
  /// In selector order, never empty: one shape per selector; with a preferred share two, the share first.
  auto shapes() const noexcept -> std::vector<view_shape> const& { return shapes_; }
  /// The selector that a shape, by its index, was made for.
  auto selector_of(std::size_t shape) const noexcept -> std::size_t { return shape / shapes_per_selector_; }
  auto top_n() const noexcept -> std::uint32_t { return top_n_; }
  /// Among how many of a shape's best to draw. Where the preferred share has none left, the first ones of the others are
  /// just those that their replicas are writing to.
  auto top_n_of(std::size_t shape) const noexcept -> std::uint32_t {
    bool const beyond_share = shapes_per_selector_ == 2 && shape % 2 == 1;
    return beyond_share ? std::max<std::uint32_t>(top_n_, 256) : top_n_;
  }
  auto target() const noexcept -> std::optional<target_server> const& { return target_; }
  auto gates() const noexcept -> feature_gates { return gates_; }
  /// request_digest(), once it was asked for; 0: not yet. Any thread.
  auto known_digest() const noexcept -> std::uint64_t { return digest_.value.load(std::memory_order_relaxed); }
  void know_digest(std::uint64_t value) const noexcept { digest_.value.store(value, std::memory_order_relaxed); }
  /// The same wishes for another namespace: this cluster as a member of several (spec 8.3).
  AGONES_ALLOC_DECL auto in_namespace(std::string_view) const -> request_ptr;

 private:
  struct secret {};
  /// Not a copy's: it becomes another request.
  struct kept_digest {
    kept_digest() noexcept = default;
    kept_digest(kept_digest const&) noexcept {}
    std::atomic<std::uint64_t> value{0};
  };

 public:
  AGONES_ALLOC_DECL allocation_request(secret, game_server_allocation, feature_gates, choice_options);

 private:
  game_server_allocation gsa_;
  std::vector<view_shape> shapes_;
  std::size_t shapes_per_selector_{1};
  std::uint32_t top_n_{1};
  std::optional<target_server> target_;
  feature_gates gates_;
  mutable kept_digest digest_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/select/request.ipp>
#endif
