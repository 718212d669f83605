// The parts of the ranked index and how they work together.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/index/claim_book.hpp>
#include <agones_alloc/cache/index/generation_table.hpp>
#include <agones_alloc/cache/index/index_view.hpp>
#include <agones_alloc/cache/index/label_sets.hpp>
#include <agones_alloc/cache/index/node_table.hpp>
#include <agones_alloc/cache/index/server_slots.hpp>
#include <agones_alloc/cache/index_types.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/cache/room_report.hpp>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Confined to the index's thread.
///
/// Invariants between calls. A free server is in the order of every view that *counts* it, a claimed one in that view's
/// in_flight: a view counts a server when the server's label set lists the view and the view accepts its status; except that
/// the view under construction does not count members of the label set it is reading that it has not come to yet (their
/// `touched` is not after the reading began). Views that are dropped leave references behind, which know that.
class index_core {
 public:
  index_core(ready_cache& cache, index_options options)
      : cache_{cache}, options_{options}, budget_{options.slice} {
    if (options.slice == 0) throw std::invalid_argument{"index_options.slice must be at least 1"};
    if (options.max_views == 0) throw std::invalid_argument{"index_options.max_views must be at least 1"};
  }

  // impl/cache/index_changes.ipp
  auto drain() -> bool;
  void put_back(server_handle);
  void settle(server_handle, game_server_ptr written, written_claim const* claim);
  void discard(server_handle);
  void remove(server_handle);
  // impl/cache/index_views.ipp
  auto build_some() -> bool;
  // impl/cache/index_pick.ipp
  auto pick_and_claim(allocation_request const&, random_source&, pick& out, std::size_t shapes) -> pick_status;
  // impl/cache/index_look.ipp
  auto look(allocation_request const&, std::size_t names, room_report& out) -> bool;
  // impl/cache/index_explain.ipp
  auto explain(allocation_request const&) -> breakdown;
  auto load_of(std::string_view node) const -> std::optional<node_load> { return nodes_.find(node); }
  auto statistics() -> index_statistics;
  auto claims() noexcept -> claim_book& { return claims_; }
  auto slot_of_claim(std::string_view ns, std::string_view id, std::size_t hash) const -> std::optional<std::uint32_t> {
    return claims_.find(ns, id, hash, [this](std::uint32_t slot) { return servers_[slot].server.get(); });
  }
  // impl/cache/index_waiting.ipp
  void watch(allocation_request const&, std::uint64_t token, bool patient);
  void unwatch(std::uint64_t token);
  void take_woken(std::vector<std::uint64_t>& out);
  auto may_wake() const noexcept -> bool { return !signalled_.empty() || !woken_by_target_.empty(); }
  auto take_waiter(view_shape const&) -> std::optional<std::uint64_t>;
  auto has_room_to_watch(allocation_request const&, std::size_t most) -> bool;

 private:
  // Changes.
  template <class End>
  void end_claim(End end, written_claim const* written = nullptr);
  auto drain_some() -> bool;
  void follow_open_nodes();
  void apply(slot_view now, bool taken_out = false, written_claim const* written = nullptr);
  void bring_known_near(slot_view const& change) const;
  auto keeps_place(indexed_server const& known, slot_view const& now) const -> bool;
  void leave_views(std::uint32_t id, indexed_server const& server);
  void enter_views(std::uint32_t id, indexed_server const& server);
  void enter_view(index_view& view, std::uint32_t id, indexed_server const& server);
  void move_node(indexed_server& known, game_server const* now);
  void move_label_set(std::uint32_t id, indexed_server& known, game_server const* now);
  void note_claim(std::uint32_t id, indexed_server& server);
  auto counts(index_view const& view, indexed_server const& server) const noexcept -> bool {
    return view.complete || view.self != reading_.view || reading_.label_set != server.label_set ||
           server.touched > reading_.began;
  }
  /// Calls f(view) for each live view of the label set; forgets the others.
  template <class F>
  void for_each_view(label_set& set, F f) {
    for (std::size_t i = 0; i != set.views.size();) {
      if (auto* view = views_.get(set.views[i])) {
        f(*view);
        ++i;
      } else {
        set.views[i] = set.views.back();
        set.views.pop_back();
      }
    }
  }

  // Views.
  auto find_view(view_shape const& shape) -> index_view*;
  auto view_of(view_shape const& shape) -> index_view&;
  auto make_view(view_shape const& shape) -> index_view&;
  void drop(index_view& view);
  void drop_idle_one();
  void make_room();
  void introduce(label_set& set);
  void accept(index_view& view, label_set& set);
  void list(index_view const& view);
  void unlist(index_view const& view);
  void build();
  void bring_members_near(std::vector<std::uint32_t> const& members) const;
  auto read_next_label_set() -> bool;
  void finish(index_view& view);

  // Picks.
  auto pick_target(allocation_request const&, pick& out) -> pick_status;
  void bring_near(index_view& view);
  auto claim_from(index_view& view, std::uint32_t top_n, random_source&, pick& out) -> bool;

  // Explanations.
  auto explain_shape(view_shape const& shape, std::size_t& budget) -> std::vector<breakdown::clause>;

  // Waiting.
  void signal(index_view& view);
  void watch_target(allocation_request const&, std::uint64_t token);
  void wake_target(game_server const& changed);

  struct view_hash {
    using is_transparent = void;
    index_core* in;
    auto operator()(std::uint32_t index) const noexcept -> std::size_t { return in->views_.at(index)->shape.hash; }
    auto operator()(view_shape const& shape) const noexcept -> std::size_t { return shape.hash; }
  };
  struct view_equal {
    using is_transparent = void;
    index_core* in;
    auto operator()(std::uint32_t a, std::uint32_t b) const noexcept -> bool { return a == b; }
    auto operator()(view_shape const& s, std::uint32_t i) const noexcept -> bool { return in->views_.at(i)->shape == s; }
    auto operator()(std::uint32_t i, view_shape const& s) const noexcept -> bool { return (*this)(s, i); }
  };
  struct explanation {
    std::uint64_t changes{0};
    std::vector<breakdown::clause> clauses;
  };
  /// What is left to do for a view under construction. Only the first one is worked on.
  struct construction {
    table_ref view;
    std::vector<table_ref> label_sets;
    std::vector<std::uint32_t> members;  ///< of the label set that is being read, as it was when reading began
  };
  struct reading_place {
    table_ref view;
    std::uint32_t label_set{0};
    std::uint64_t began{0};
  };

  ready_cache& cache_;
  index_options options_;
  server_slots servers_;
  label_sets label_sets_;
  node_table nodes_;
  claim_book claims_;
  generation_table<index_view> views_;
  boost::unordered_flat_set<std::uint32_t, view_hash, view_equal> by_shape_{0, view_hash{this}, view_equal{this}};
  boost::unordered_flat_map<std::uint64_t, std::vector<table_ref>> views_by_label_;  // by label_hash of one clause
  std::vector<table_ref> views_without_label_;
  std::deque<construction> constructions_;
  reading_place reading_;
  std::size_t budget_;        // changes and servers that may be handled before the next drain() or build_some()
  std::uint64_t moment_{0};   // counts placements
  std::uint64_t changes_{0};  // counts what explain could see
  std::uint64_t picks_{0};
  std::uint64_t lost_claims_{0};
  allocation_request const* resumed_{nullptr};  // whose views are being built; compared only
  std::size_t custom_views_{0};
  std::size_t shape_bytes_{0};
  std::vector<slot_view> taken_;
  std::vector<table_ref> signalled_;
  struct waiting_for {
    std::vector<table_ref> views;
    std::optional<object_key> target;  ///< a required one, instead
  };
  boost::unordered_flat_map<std::uint64_t, waiting_for> waiting_;  // by token
  std::map<object_key, std::set<std::uint64_t>> waiters_by_target_;
  std::set<std::uint64_t> woken_by_target_;
  std::size_t watched_views_{0};
  boost::unordered_flat_map<std::uint32_t, explanation> explained_;           // by place of the view
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
