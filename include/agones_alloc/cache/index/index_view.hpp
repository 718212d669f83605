// One live request shape: the servers it accepts, in its order.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/index/generation_table.hpp>
#include <agones_alloc/cache/index/packed_order.hpp>
#include <agones_alloc/cache/index/random_bag.hpp>
#include <agones_alloc/cache/index/sorted_entries.hpp>
#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/select/request.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

class index_view {
 public:
  index_view(view_shape const& wanted, server_slots const& servers)
      : shape{wanted}, keys_{shape.order}, servers_{&servers} {}
  index_view(index_view const&) = delete;
  auto operator=(index_view const&) -> index_view& = delete;

  view_shape const shape;
  table_ref self;
  std::size_t free{0};       ///< servers in the order
  std::size_t in_flight{0};  ///< matching servers that are claimed
  std::uint64_t last_pick{0};
  std::size_t shape_bytes{0};
  bool complete{false};      ///< false: still being built
  bool signalled{false};     ///< stands in the list of views whose waiters may be woken
  bool flight_ended{false};  ///< in_flight fell to 0 since waiters were last woken
  std::set<std::uint64_t> waiters;
  std::set<std::uint64_t> restless;  ///< those of them who want to know when the last flight ended without a server

  /// Namespace and label clauses are the label set's affair.
  auto accepts(indexed_server const& server) const noexcept -> bool {
    if (only_state_) return shape.selector.state == server.state || !shape.selector.state;
    return matches_status(shape.selector, *server.server);
  }

  void insert(std::uint32_t id, node_table& nodes) {
    ++free;
    place(id, nodes);
    if (free > keyed_for_ && free <= most_rekeyed && std::has_single_bit(free)) fit_prefix(nodes);
  }

  /// The server's value, node and state must be those it was inserted with.
  void erase(std::uint32_t id) {
    auto const& server = (*servers_)[id];
    --free;
    switch (shape.order.kind) {
      case order_kind::packed:
        packed_[is_allocated(server)].erase(id, server.node, [&] { return keys_.make(*server.server, id); }, before(), pool_);
        return;
      case order_kind::by_priorities:
      case order_kind::newest_first:
      case order_kind::custom:
        if (sorted_.best().id == id) {
          sorted_.pop_best(pool_);
        } else {
          sorted_.erase(keys_.make(*server.server, id), before(), pool_);
        }
        return;
      case order_kind::random: bag_.tidy(*servers_, free); return;  // its entry is void when the placement changes
    }
  }

  /// The server to try: the first, or a draw from the best top_n. There must be a free one, and the one returned
  /// must be erased, or erased and inserted anew.
  auto choose(std::uint32_t top_n, random_source& random, node_table& nodes) -> std::uint32_t {
    if (shape.order.kind == order_kind::random) return bag_.draw(*servers_, random);
    auto const from = std::min<std::size_t>(top_n, free);
    if (from <= 1) return best(nodes).id;
    return draw_best(from, random, nodes);
  }

  /// The server that choose() will most likely return after `depth` others, at most random_bag::foresight.
  auto ahead(std::size_t depth) noexcept -> std::optional<std::uint32_t> {
    if (free == 0) return std::nullopt;
    if (shape.order.kind == order_kind::random) return bag_.ahead(depth);
    auto const* entry = shape.order.kind == order_kind::packed ? packed_[front()].ahead(depth, before()) : sorted_.ahead(depth);
    if (entry == nullptr) return std::nullopt;
    return entry->id;
  }
  void bring_near() noexcept { bag_.bring_near(); }

  /// The first `count` servers, at most those that are free; of a random order, some of them.
  auto first(std::size_t count, node_table& nodes) -> std::vector<std::uint32_t> {
    if (shape.order.kind == order_kind::random) return bag_.some(count, *servers_);
    auto const taken = take_best(count, nodes);
    std::vector<std::uint32_t> out;
    out.reserve(taken.size());
    for (auto const& entry : taken) {
      put(entry, nodes);
      out.push_back(entry.id);
    }
    return out;
  }

  /// For a view that is still empty: names it is going to have.
  void expect(std::vector<game_server const*> const& sample) {
    if (sample.empty()) return;
    keys_.set_prefix(common_prefix(sample));
    keyed_for_ = most_rekeyed;
  }
  /// Most names that came lately did not fit the prefix: comparisons became slow, better make the view anew.
  auto worn_out() const noexcept -> bool { return strangers_ > std::max<std::size_t>(free, most_rekeyed); }

 private:
  static constexpr std::size_t most_rekeyed = 1024;

  auto before() const noexcept -> entry_order { return {&shape.order, servers_}; }
  static auto is_allocated(indexed_server const& server) noexcept -> bool {
    return server.state == game_server_state::allocated;
  }

  void place(std::uint32_t id, node_table& nodes) {
    auto const& server = (*servers_)[id];
    switch (shape.order.kind) {
      case order_kind::packed:
      case order_kind::by_priorities:
      case order_kind::newest_first:
      case order_kind::custom:
        if (!keys_.fits(server.server->meta.name)) ++strangers_;
        put(keys_.make(*server.server, id), nodes);
        return;
      case order_kind::random:
        bag_.tidy(*servers_, free);
        bag_.insert(id, *servers_);
        return;
    }
  }

  void put(sort_entry const& entry, node_table& nodes) {
    if (shape.order.kind != order_kind::packed) {
      sorted_.insert(entry, before(), pool_);
      return;
    }
    auto const& server = (*servers_)[entry.id];
    auto const allocated = is_allocated(server);
    packed_[allocated].insert(entry, server.node, before(), pool_, nodes);
  }

  // Allocated servers go first (spec 5.2, step 1); with a state in the selector one of the two stays empty.
  auto front() const noexcept -> bool { return !packed_[1].empty(); }

  auto best(node_table& nodes) -> sort_entry {
    if (shape.order.kind != order_kind::packed) return sorted_.best();
    return packed_[front()].best(before(), nodes);
  }

  /// Takes out the one that best() returned.
  void pop_best() {
    if (shape.order.kind != order_kind::packed) {
      sorted_.pop_best(pool_);
    } else {
      packed_[front()].pop_best(before(), pool_);
    }
  }

  auto take_best(std::size_t count, node_table& nodes) -> std::vector<sort_entry> {
    std::vector<sort_entry> taken;
    taken.reserve(count);
    while (taken.size() != count) {
      taken.push_back(best(nodes));
      pop_best();
    }
    return taken;
  }

  /// Takes the best ones out to see which they are, and puts them back.
  auto draw_best(std::size_t count, random_source& random, node_table& nodes) -> std::uint32_t {
    auto const taken = take_best(count, nodes);
    for (auto const& entry : taken) put(entry, nodes);
    return taken[static_cast<std::size_t>(random.below(count))].id;
  }

  /// A view that was made before its servers learns their prefix while it is small.
  void fit_prefix(node_table& nodes) {
    keyed_for_ = free;
    if (shape.order.kind == order_kind::random || shape.order.kind == order_kind::custom) return;
    auto const taken = take_best(free, nodes);
    std::vector<game_server const*> all;
    all.reserve(taken.size());
    for (auto const& entry : taken) all.push_back((*servers_)[entry.id].server.get());
    keys_.set_prefix(common_prefix(all));
    for (auto const& entry : taken) put(keys_.make(*(*servers_)[entry.id].server, entry.id), nodes);
  }

  /// Of the names; but of a fleet's servers only the fleet's part, since its sets come and go.
  static auto common_prefix(std::vector<game_server const*> const& servers) -> std::string_view {
    auto prefix = servers.front()->meta.name.view();
    auto fleet = servers.front()->meta.labels.value_or_empty(keys::fleet_label);
    for (auto const* server : servers) {
      auto const name = server->meta.name.view();
      auto const end = std::mismatch(prefix.begin(), prefix.end(), name.begin(), name.end()).first;
      prefix = prefix.substr(0, static_cast<std::size_t>(end - prefix.begin()));
      if (server->meta.labels.value_or_empty(keys::fleet_label) != fleet) fleet = {};
    }
    if (!fleet.empty() && prefix.size() > fleet.size() && prefix.starts_with(fleet)) {
      prefix = prefix.substr(0, fleet.size() + 1);
    }
    return prefix;
  }

  sort_key_maker keys_;
  server_slots const* servers_;
  std::size_t keyed_for_{1};  ///< number of servers at which the prefix was last fitted
  std::size_t strangers_{0};
  bool const only_state_{!shape.selector.players && shape.selector.counters.empty() && shape.selector.lists.empty() &&
                         shape.selector.at_most.empty() &&
                         shape.selector.share.count == 1};
  entry_pool pool_;
  sorted_entries sorted_;
  std::array<packed_order, 2> packed_;  // Ready, Allocated
  random_bag bag_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
