// What fleets there are, and how full they are: to be asked, and to be watched.
#pragma once

#include <agones_alloc/async/fleet_watch.hpp>
#include <agones_alloc/cache/fleet_book.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/fleet_info.hpp>
#include <agones_alloc/port/server_observer.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct fleet_directory_options {
  fleet_book_options book{};
  /// Between two publications, whatever changes: how often consumers are woken. 0 to 10 s.
  std::chrono::nanoseconds gather{std::chrono::milliseconds{20}};
  /// Tells tokens of this directory from those of another one, or of the last run; "": made of the clock. Letters, digits.
  std::string instance{};
};

struct fleet_directory_statistics {
  std::size_t fleets{0};
  std::size_t servers{0};   ///< of the local cluster
  std::size_t watches{0};
  std::uint64_t revision{0};
  std::uint64_t publications{0};
};

/// A table of the fleets of all clusters that are fed into it: desired, total, ready, reserved, allocated, counters, lists,
/// players, free capacity, the spread over nodes. What the Fleet says of itself (`status`) and what its servers say
/// (`recount`) stand side by side. A change of a server costs well under a microsecond, whoever is watching.
///
/// Feed it as a `server_observer` (reflector_options::observer and allocator_ports::observer), and with Fleets; then
/// a number moves with the allocation that moves it. Fleets of other clusters come ready-made.
///
/// Thread safety: all functions from any thread; consumers are woken on the executor. Lifetime: the timer must outlive it
/// and, once it is destroyed, what runs on the executor then. Watches may outlive it: their waits end with errc::cancelled.
class fleet_directory final : public server_observer {
 public:
  /// Throws std::invalid_argument for options out of range.
  AGONES_ALLOC_DECL fleet_directory(boost::asio::any_io_executor, timer&, fleet_directory_options = {});
  AGONES_ALLOC_DECL ~fleet_directory() override;
  fleet_directory(fleet_directory const&) = delete;
  auto operator=(fleet_directory const&) -> fleet_directory& = delete;

  // Servers of the local cluster. With the first complete list the local cluster counts as synced.
  AGONES_ALLOC_DECL void stored(game_server_ptr const&) override;
  AGONES_ALLOC_DECL void erased(object_key const&, std::string_view uid) override;
  AGONES_ALLOC_DECL void replaced(std::span<game_server_ptr const>, std::string_view version) override;
  /// The local cluster is stale from now on, with the reason; until regained(), or the next list.
  AGONES_ALLOC_DECL void lost(error_code) override;
  AGONES_ALLOC_DECL void regained() override;
  // Fleets of the local cluster: all of them, and one that changed or went. As fleet_book's functions of these names.
  AGONES_ALLOC_DECL void set_fleets(std::span<fleet_ptr const>);
  AGONES_ALLOC_DECL void put_fleet(fleet_ptr const&);
  AGONES_ALLOC_DECL void erase_fleet(object_key const&);

  // Other clusters: as fleet_book's functions of these names.
  AGONES_ALLOC_DECL void begin_list(std::string_view cluster);
  AGONES_ALLOC_DECL void end_list(std::string_view cluster);
  AGONES_ALLOC_DECL auto put(std::vector<fleet_info>) -> bool;
  AGONES_ALLOC_DECL void remove(fleet_key const&);
  AGONES_ALLOC_DECL void set_cluster(cluster_info);
  AGONES_ALLOC_DECL void remove_cluster(std::string_view cluster);

  /// What is true now: up to `limit` fleets after `after`, in the order of their keys.
  AGONES_ALLOC_DECL auto snapshot(fleet_filter const& = {}, std::optional<fleet_key> const& after = std::nullopt,
                                  std::size_t limit = std::numeric_limits<std::size_t>::max()) const -> fleet_page;
  /// Game servers of the local cluster as they are now; fleet_book::servers.
  AGONES_ALLOC_DECL auto servers(std::string_view ns, std::string_view fleet, std::string_view after, std::size_t limit,
                                 bool& more) const -> std::vector<game_server_ptr>;

  /// First the state, then what changes. With a token of an earlier watch only what has changed since; where that is not
  /// known any more, `reset` and then everything. Costs nothing while nobody reads it.
  AGONES_ALLOC_DECL auto watch(fleet_filter = {}, std::string_view token = {}) -> fleet_watch;
  AGONES_ALLOC_DECL auto token_of(std::uint64_t revision) const -> std::string;

  AGONES_ALLOC_DECL auto cluster() const noexcept -> std::string const&;  ///< the name of the local one
  AGONES_ALLOC_DECL auto statistics() const -> fleet_directory_statistics;

 private:
  std::shared_ptr<detail::fleet_directory_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/fleet_directory.ipp>
#endif
