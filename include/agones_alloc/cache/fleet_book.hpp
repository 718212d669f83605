// All fleets of all clusters, kept up by changes; what changed since when.
#pragma once

#include <agones_alloc/cache/fleet_counts.hpp>
#include <agones_alloc/cache/fleet_event.hpp>
#include <agones_alloc/cache/fleet_filter.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/fleet_info.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <boost/intrusive/list.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

using fleet_ptr = std::shared_ptr<fleet const>;

struct fleet_book_options {
  std::string cluster{"local"};  ///< name of the local one; not empty
  std::chrono::nanoseconds interval{std::chrono::milliseconds{250}};  ///< between two changes of one fleet that are told
  std::size_t remembered_deletions{4096};  ///< of fleets; who missed an older one is told everything anew
  std::size_t remembered_servers{4096};    ///< that were deleted, so that late news of them count no more
  std::size_t remote_fleets{100'000};      ///< of one other cluster; more are left out
};

/// Servers of the local cluster move its fleets' recounts, each change at the cost of what it changes (O(1) in servers, fleets
/// and consumers). Fleets of other clusters come ready-made.
///
/// Changes are *published* fleet by fleet, at most once an interval, by moving the fleet to the end of one list that is
/// ordered by revision. A consumer is a cursor into that list: whoever is slow finds each fleet once, as it is then, and
/// nobody waits for anybody. Deleted fleets stay in the list until they are too many.
///
/// Pure: no clock, no lock. Thread safety: none.
class fleet_book {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using wall_time = fleet_info::wall_time;

  AGONES_ALLOC_DECL explicit fleet_book(fleet_book_options options = {});
  AGONES_ALLOC_DECL ~fleet_book();
  fleet_book(fleet_book const&) = delete;
  auto operator=(fleet_book const&) -> fleet_book& = delete;

  // The local cluster. As server_observer's functions.
  AGONES_ALLOC_DECL void store(game_server_ptr const&);
  /// One after the other; what is far from the processor is asked for before, for several at once, so that many together
  /// cost less than each by itself.
  AGONES_ALLOC_DECL void store(std::span<game_server_ptr const>);
  AGONES_ALLOC_DECL void erase(object_key const&, std::string_view uid);
  AGONES_ALLOC_DECL void replace_all(std::span<game_server_ptr const>, std::string_view version);
  /// All Fleets there are. Costs a look at each; what is the same object as before costs nothing more.
  AGONES_ALLOC_DECL void set_fleets(std::span<fleet_ptr const>);
  /// One that is new or has changed, whatever its version; not null.
  AGONES_ALLOC_DECL void put_fleet(fleet_ptr const&);
  /// One that was deleted. Its servers stay counted until they are gone too; of one that is not there, nothing.
  AGONES_ALLOC_DECL void erase_fleet(object_key const&);

  // Other clusters.
  /// A complete list begins: what is not put before its end is gone.
  AGONES_ALLOC_DECL void begin_list(std::string_view cluster);
  AGONES_ALLOC_DECL void end_list(std::string_view cluster);
  /// False: there are too many.
  AGONES_ALLOC_DECL auto put(fleet_info) -> bool;
  AGONES_ALLOC_DECL void remove(fleet_key const&);
  /// Of any cluster. `stale` marks all its fleets.
  AGONES_ALLOC_DECL void set_cluster(cluster_info);
  /// With all its fleets.
  AGONES_ALLOC_DECL void remove_cluster(std::string_view cluster);

  /// Publishes what is due. True: a consumer may find something new.
  AGONES_ALLOC_DECL auto publish(time_point now, wall_time wall) -> bool;
  auto has_news() const noexcept -> bool { return !dirty_.empty() || !dying_.empty(); }
  /// Something waits for the first publication that comes.
  auto is_urgent() const noexcept -> bool { return fresh_ || !dying_.empty(); }
  /// When the next of those that publish() left is due; max(): nothing is left.
  auto next_due() const noexcept -> time_point { return due_; }

  /// Up to `limit` fleets after `after`.
  AGONES_ALLOC_DECL auto page(fleet_filter const&, std::optional<fleet_key> const& after, std::size_t limit, wall_time) const
      -> fleet_page;
  /// Up to about `limit` further events; false: that is all at present.
  AGONES_ALLOC_DECL auto next(fleet_cursor&, fleet_filter const&, std::size_t limit, wall_time, std::vector<fleet_event>& out) const
      -> bool;
  auto has_next(fleet_cursor const& of) const noexcept -> bool {
    return of.at != fleet_cursor::phase::following || of.seen < revision_;
  }
  /// Whether a cursor can go on from there.
  auto remembers(std::uint64_t revision) const noexcept -> bool { return revision >= forgotten_ && revision <= revision_; }

  /// Servers of a fleet by name, or of the whole namespace with `fleet` "", up to `limit` after `after`; `more` tells
  /// whether there are further ones. Looks at all servers.
  AGONES_ALLOC_DECL auto servers(std::string_view ns, std::string_view fleet, std::string_view after, std::size_t limit,
                                 bool& more) const -> std::vector<game_server_ptr>;

  auto options() const noexcept -> fleet_book_options const& { return options_; }
  auto fleets() const noexcept -> std::size_t { return rows_.size(); }
  auto server_count() const noexcept -> std::size_t { return servers_.size(); }
  auto revision() const noexcept -> std::uint64_t { return revision_; }

 private:
  struct row : boost::intrusive::list_base_hook<> {
    fleet_key key;
    fleet_counts counts;             ///< of local ones
    fleet_ptr object;                ///< the same
    fleet_info_ptr told;             ///< of others: as their cluster tells it
    cluster_info_ptr cluster;        ///< not null: the row is about a cluster
    mutable fleet_info_ptr info;     ///< as it is now; null: to be made
    std::uint64_t revision{0};       ///< of the last publication
    std::uint64_t created{0};        ///< of the first
    std::uint64_t relabelled{0};     ///< of the last that told other labels
    std::uint64_t edit{0};
    bool labels_changed{false};      ///< since the last publication
    std::uint64_t list{0};           ///< the last list that had it
    time_point published{};
    bool dirty{false};
    bool gone{false};
  };
  struct known_server {
    std::size_t hash;
    mutable game_server_ptr server;
    mutable row* of;  ///< null: of no fleet
    mutable std::uint32_t list;
    mutable fleet_counts::node_place node{nullptr};  ///< in the counts of that fleet
  };
  struct server_name {
    std::size_t hash;
    std::string_view namespace_;
    std::string_view name;
  };
  struct server_hint {  ///< some server of that hash, whatever its name
    std::size_t hash;
  };
  struct server_hash {
    using is_transparent = void;
    using is_avalanching = void;
    auto operator()(known_server const& s) const noexcept -> std::size_t { return s.hash; }
    auto operator()(server_name const& s) const noexcept -> std::size_t { return s.hash; }
    auto operator()(server_hint const& s) const noexcept -> std::size_t { return s.hash; }
  };
  struct server_equal {
    using is_transparent = void;
    auto operator()(known_server const& a, known_server const& b) const noexcept -> bool { return (*this)(name_of(a), b); }
    auto operator()(server_name const& a, known_server const& b) const noexcept -> bool {
      return a.hash == b.hash && b.server->meta.name == a.name && b.server->meta.namespace_ == a.namespace_;
    }
    auto operator()(known_server const& a, server_name const& b) const noexcept -> bool { return (*this)(b, a); }
    auto operator()(server_hint const& a, known_server const& b) const noexcept -> bool { return a.hash == b.hash; }
    auto operator()(known_server const& a, server_hint const& b) const noexcept -> bool { return a.hash == b.hash; }
  };
  struct removed_server {
    std::size_t hash;
    shared_string uid;
    shared_string version;  ///< of the list that lacked it; "": it was deleted
  };
  using row_map = std::map<fleet_key, std::unique_ptr<row>>;
  using change_list = boost::intrusive::list<row, boost::intrusive::constant_time_size<false>>;

  static auto name_of(known_server const& s) noexcept -> server_name {
    return {s.hash, s.server->meta.namespace_, s.server->meta.name};
  }
  void store(game_server_ptr const&, std::size_t hash, known_server const* known);
  void store_together(std::span<game_server_ptr const>);
  auto row_for(fleet_key const&) -> row&;
  auto local_row(game_server const&) -> row*;
  void take_fleet(row&, fleet_ptr const&);
  void lose_fleet(row&);
  static auto is_of(game_server const&, row const*) noexcept -> bool;
  void touch(row&);
  static void note_labels(row&, string_map const& next);
  void drop_if_empty(row&);
  auto kill(row_map& in, row_map::iterator) -> row_map::iterator;
  void stamp(row&);
  void forget_server(known_server const&, std::string_view version);
  auto was_removed(std::size_t hash, game_server const&) const -> bool;
  auto info_of(row const&, wall_time) const -> fleet_info_ptr const&;
  static auto labels_of(row const&) noexcept -> string_map const&;
  auto wants(fleet_filter const&, row const&) const -> bool;
  auto tell(row const&, fleet_cursor const&, fleet_filter const&, wall_time) const -> std::optional<fleet_event>;
  auto list_some(fleet_cursor&, fleet_filter const&, std::size_t limit, wall_time, std::vector<fleet_event>&) const -> bool;

  fleet_book_options options_;
  shared_string local_;
  boost::unordered_flat_set<known_server, server_hash, server_equal> servers_;
  std::deque<removed_server> removed_;
  boost::unordered_flat_map<std::size_t, std::uint32_t> removed_hashes_;
  row_map rows_;
  row_map clusters_;  ///< by cluster alone
  change_list changes_;
  std::vector<std::unique_ptr<row>> dying_;     ///< gone, not yet published
  std::deque<std::unique_ptr<row>> tombstones_;
  std::vector<row*> dirty_;
  std::map<std::string, std::size_t, std::less<>> remote_sizes_;
  std::uint64_t revision_{0};
  std::uint64_t forgotten_{0};  ///< the newest deletion that is not remembered
  std::uint64_t edits_{0};
  std::uint64_t lists_{0};
  std::map<std::string, std::uint64_t, std::less<>> list_of_;  ///< the list that is being put, by cluster
  std::uint32_t server_list_{0};
  time_point due_{time_point::max()};
  bool fresh_{false};  ///< something became dirty since the last publication
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/cache/fleet_book.ipp>
#include <agones_alloc/impl/cache/fleet_book_reading.ipp>
#endif
