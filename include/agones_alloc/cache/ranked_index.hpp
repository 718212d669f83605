// The order of the servers in a ready cache, kept up to date: the next server of any request, at once.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/index_types.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/cache/room_report.hpp>
#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/select/rank.hpp>
#include <agones_alloc/select/request.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class claim_book;
struct written_claim;
class index_core;
}

/// Keeps one *view* per live request shape (namespace, selector, ranking), made on first use and updated by
/// the cache's changes, so a pick takes the front of its view whatever the cache holds. The order is exactly
/// that of `compare` and `matches` over the drained changes (spec 3, 5). A pick is a hint: `claim` decides.
///
/// A view over many servers is built in slices: the pick says `building` and wants `build_some()`.
/// Confined to one thread; the cache may be changed by others meanwhile. One index per cache.
class ranked_index {
 public:
  AGONES_ALLOC_DECL explicit ranked_index(ready_cache& cache, index_options options = {});
  AGONES_ALLOC_DECL ~ranked_index();
  ranked_index(ranked_index const&) = delete;
  auto operator=(ranked_index const&) -> ranked_index& = delete;

  /// Applies up to one slice of the cache's changes; true when more are left. Cheap when nothing changed. Picks work on
  /// changes and on views that are not complete, too, but with what is left of the slice: however many picks
  /// follow each other, they keep their thread no longer than one slice.
  AGONES_ALLOC_DECL auto drain() -> bool;
  /// Drains, then works on views that are not complete, with what is left of the slice; true when more is left to do.
  AGONES_ALLOC_DECL auto build_some() -> bool;

  /// Claims the first server of the request's order: lowest selector with a hit wins, then the ranking;
  /// with top_n above 1 a uniform draw from the best N of that selector's view. Drains first.
  /// A required target is taken only if it matches a selector, a preferred one before the ranking (none, busy
  /// and picked speak of the target then). Lost claims are retried inside. `out` is set when picked.
  /// `shapes`: look at so many of the first of the request's shapes only.
  AGONES_ALLOC_DECL auto pick_and_claim(allocation_request const&, random_source&, pick& out,
                                        std::size_t shapes = std::numeric_limits<std::size_t>::max()) -> pick_status;

  /// The ends of a pick's claim, as the cache has them, taken in at once: that is half the work of leaving it to the next drain.
  AGONES_ALLOC_DECL void put_back(server_handle);
  /// `claim`: what was written as the server's only claim, where the caller knows; null: it is read.
  AGONES_ALLOC_DECL void settle(server_handle, game_server_ptr written, detail::written_claim const* claim = nullptr);
  AGONES_ALLOC_DECL void discard(server_handle);
  AGONES_ALLOC_DECL void remove(server_handle);

  /// How many servers the request could be given, and the first `names` of them, claiming none. Costs a step per selector and
  /// name once its views are there. False: they are being built, as after a pick; `remaining` is left alone. A target is not looked at.
  AGONES_ALLOC_DECL auto look(allocation_request const&, std::size_t names, room_report& out) -> bool;

  /// How many servers of the namespace remain after each clause, for each of the first 16 selectors. Counts what is
  /// claimed, too. Costs a step per label set, and per server that is left where a clause is not of labels or
  /// state; at most 16384 steps in all: counts that are of a part only have names that end in " (at least)".
  /// Remembered until something changes.
  AGONES_ALLOC_DECL auto explain(allocation_request const&) -> breakdown;

  /// Parks `token` on every view of the request (of a required target: on the server of that name, which need not exist yet)
  /// until it is worth trying again; call it directly after a pick said `busy` or `none`. Tokens are unique and wake in ascending order: number requests as they arrive and
  /// keep the number when one parks again. Views that are watched are not dropped. `patient`: only a free server is of interest.
  AGONES_ALLOC_DECL void watch(allocation_request const&, std::uint64_t token, bool patient = false);
  /// Forgets the token; nothing happens when it is not parked.
  AGONES_ALLOC_DECL void unwatch(std::uint64_t token);
  /// Appends the tokens to be tried again, and unparks them: for each view as many, oldest first, as it has free
  /// servers, and all that are not patient once when its last matching claim in flight ended without one. Call it
  /// after the woken requests were tried, again and again: a view that still has free servers wakes the next.
  AGONES_ALLOC_DECL void take_woken(std::vector<std::uint64_t>& out);
  /// False when take_woken would find nothing.
  AGONES_ALLOC_DECL auto may_wake() const noexcept -> bool;
  /// Unparks the oldest token that is parked on the view of that shape; nullopt when none is.
  AGONES_ALLOC_DECL auto take_waiter(view_shape const&) -> std::optional<std::uint64_t>;
  /// True while fewer than `most` are parked on each view of the request, and the views that are watched at all leave room
  /// for its own within index_options::max_views.
  AGONES_ALLOC_DECL auto has_room_to_watch(allocation_request const&, std::size_t most) const -> bool;

  /// Ready and Allocated servers of the node; nullopt when it has none.
  AGONES_ALLOC_DECL auto load_of(std::string_view node) const -> std::optional<node_load>;
  // Claims of the servers it has drained, for the allocator.
  AGONES_ALLOC_DECL auto claims() noexcept -> detail::claim_book&;
  /// The slot of the server that has the claim of that id; `hash`: detail::claim_hash(id).
  AGONES_ALLOC_DECL auto slot_of_claim(std::string_view ns, std::string_view id, std::size_t hash) const
      -> std::optional<std::uint32_t>;
  AGONES_ALLOC_DECL auto statistics() const -> index_statistics;

 private:
  std::unique_ptr<detail::index_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/cache/ranked_index.ipp>
#endif
