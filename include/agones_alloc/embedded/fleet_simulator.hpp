// Keeps simulated fleets alive: a state machine without clock, store or thread.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/embedded/fleet_settings.hpp>
#include <agones_alloc/embedded/node_pool.hpp>
#include <agones_alloc/embedded/simulator_action.hpp>
#include <agones_alloc/embedded/simulator_options.hpp>
#include <agones_alloc/embedded/simulator_records.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/server_source.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What Agones' controllers do for Fleets and their GameServers, as far as an allocator can see it.
///
/// Fleets are kept at `replicas` servers that are not being deleted. A server starts (Starting, Scheduled,
/// RequestReady, Ready), waits, and once something allocates it has a session, ends (Shutdown), goes, and is replaced;
/// Error and Unhealthy servers are replaced too. Allocated and Reserved servers survive a scale-down; what is in excess
/// then gets the fleet's allocationOverflow labels and annotations.
///
/// The caller asks for actions, carries each out on the store, and reports with `done`; changes made by others are
/// reported with `observe`, in any order with the former: older versions are ignored. An action costs O(log servers).
/// The same calls give the same actions. Thread safety: none.
class fleet_simulator {
 public:
  using instant = simulator_instant;

  /// Throws std::invalid_argument that names every option out of range.
  AGONES_ALLOC_DECL explicit fleet_simulator(simulator_options);

  /// Adds a fleet; its servers come with the next actions. Errors, with nothing changed: a fleet of that namespace and
  /// name, annotations that cannot be read, negative replicas, or more than max_servers.
  AGONES_ALLOC_DECL auto add_fleet(fleet, instant) -> field_errors;
  /// Adds a server that is no fleet's and is not replaced: as it is, or, when its state is unset, Ready on a node with
  /// the ports, counters and lists of `shape` (with annotation agones.dev/dev-address, at that address with its Static
  /// ports). Its sessions end only if its annotation agones-alloc.dev/session-length says so. Errors, with nothing
  /// changed: as add_fleet; no room.
  AGONES_ALLOC_DECL auto add_server(game_server, game_server_template const& shape, instant) -> field_errors;
  /// Changes spec.replicas. Errors: no such fleet; out of range.
  AGONES_ALLOC_DECL auto scale(object_key const& fleet, std::int64_t replicas) -> field_errors;

  /// The next thing to write, if there is any now.
  AGONES_ALLOC_DECL auto next_action(instant) -> std::optional<simulator_action>;
  /// What came of an action: the object as the store now has it (the last state for a removal), or why not.
  AGONES_ALLOC_DECL void done(simulator_action const&, result<game_server_ptr> const&, instant);
  /// A change seen in the store. Servers that were not added or made here are ignored.
  AGONES_ALLOC_DECL void observe(server_event const&, instant);
  /// All servers of the store, after events were missed. O(servers).
  AGONES_ALLOC_DECL void observe_all(std::vector<game_server_ptr> const&, instant);
  /// The next fleet found to lack room, each once until its size is changed; not while a server of its own is about to
  /// make room.
  AGONES_ALLOC_DECL auto next_shortage() -> std::optional<fleet_shortage>;
  /// When next_action may next have something; time_point::min() for now, nothing for never.
  AGONES_ALLOC_DECL auto next_time() const -> std::optional<timer::time_point>;

  /// All fleets with their status, sorted by namespace and name.
  AGONES_ALLOC_DECL auto fleets() const -> std::vector<fleet>;
  /// Those that were added, or have changed in size or status, since it was asked last, with their status now. What it costs
  /// does not depend on how many others there are.
  AGONES_ALLOC_DECL auto take_changed() -> std::vector<fleet>;
  /// Nothing when there is no such fleet.
  AGONES_ALLOC_DECL auto find_fleet(object_key const&) const -> std::optional<fleet>;
  /// Servers alive, being created or being removed.
  auto size() const noexcept -> std::size_t { return by_key_.size(); }
  auto nodes() const noexcept -> node_pool const& { return nodes_; }
  /// True when a fleet lacks servers because no node has room or max_servers is reached.
  AGONES_ALLOC_DECL auto is_full() const noexcept -> bool;

 private:
  using server = detail::simulated_server;
  using fleet_record = detail::simulated_fleet;
  static constexpr std::uint32_t none = detail::no_fleet;

  // The life of one server.
  AGONES_ALLOC_DECL void enter_phase(std::uint32_t slot, instant);
  AGONES_ALLOC_DECL void accept(std::uint32_t slot, game_server_ptr, instant);
  AGONES_ALLOC_DECL auto act(std::uint32_t slot, instant) -> std::optional<simulator_action>;
  AGONES_ALLOC_DECL auto act_urgently(std::uint32_t slot) -> std::optional<simulator_action>;
  AGONES_ALLOC_DECL auto change_state(std::uint32_t slot, game_server_state) -> simulator_action;
  AGONES_ALLOC_DECL auto answer_gate(std::uint32_t slot) -> std::optional<simulator_action>;
  AGONES_ALLOC_DECL void show_place(game_server_status&, std::uint32_t slot) const;
  AGONES_ALLOC_DECL auto has_overflow_patch(server const&) const -> bool;
  AGONES_ALLOC_DECL void drop_overflow(std::uint32_t slot);
  AGONES_ALLOC_DECL void set_timer(std::uint32_t slot, std::optional<timer::time_point>);
  AGONES_ALLOC_DECL void failed(std::uint32_t slot, error_code, instant);
  AGONES_ALLOC_DECL auto settings_of(server const&) const -> fleet_settings const&;
  AGONES_ALLOC_DECL auto draw(duration_range const&) -> std::chrono::nanoseconds;

  // The upkeep of a fleet.
  AGONES_ALLOC_DECL auto make_slot(object_key, std::uint32_t fleet) -> std::uint32_t;
  AGONES_ALLOC_DECL void forget(std::uint32_t slot);
  AGONES_ALLOC_DECL void recount(std::uint32_t slot);
  AGONES_ALLOC_DECL void mark_dirty(std::uint32_t fleet);
  AGONES_ALLOC_DECL void mark_changed(std::uint32_t fleet);
  AGONES_ALLOC_DECL auto keep_up(std::uint32_t fleet, instant) -> std::optional<simulator_action>;
  AGONES_ALLOC_DECL auto create_server(std::uint32_t fleet, instant) -> std::optional<simulator_action>;
  AGONES_ALLOC_DECL void lack_room(std::uint32_t fleet);
  AGONES_ALLOC_DECL void doom_excess(std::uint32_t fleet);
  AGONES_ALLOC_DECL void mark_overflow(std::uint32_t fleet);
  AGONES_ALLOC_DECL auto fill_fleet(fleet_record const&) const -> fleet;

  simulator_options options_;
  seeded_random random_;
  node_pool nodes_;
  std::vector<fleet_record> fleets_;
  std::map<object_key, std::uint32_t> fleet_numbers_;
  std::vector<server> servers_;
  std::vector<std::uint32_t> free_slots_;
  std::unordered_map<object_key, std::uint32_t, detail::simulated_key_hash> by_key_;
  std::set<std::pair<timer::time_point, std::uint32_t>> timers_;        ///< of servers
  std::set<std::pair<timer::time_point, std::uint32_t>> fleet_timers_;  ///< fleets whose creations failed
  std::deque<std::uint32_t> urgent_;    ///< servers to be shut down or labelled by their fleet
  std::deque<std::uint32_t> dirty_;     ///< fleets to be looked at
  std::vector<std::uint32_t> changed_;  ///< fleets that take_changed() has not given yet
  std::vector<std::uint32_t> waiting_;  ///< fleets without room
  std::deque<fleet_shortage> shortages_;
  std::uint64_t tickets_{0};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/embedded/fleet_simulator.ipp>
#include <agones_alloc/impl/embedded/fleet_upkeep.ipp>
#include <agones_alloc/impl/embedded/server_life.ipp>
#include <agones_alloc/impl/embedded/session_start.ipp>
#include <agones_alloc/impl/embedded/single_server.ipp>
#endif
