// What a fleet simulator remembers of its servers and fleets.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/embedded/fleet_settings.hpp>
#include <agones_alloc/embedded/fleet_tally.hpp>
#include <agones_alloc/embedded/node_pool.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/port/timer.hpp>
#include <agones_alloc/select/pending_mark.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace detail {

inline constexpr auto no_fleet = std::numeric_limits<std::uint32_t>::max();

/// How long a refused or lost write waits before it is tried again. Real time, not simulated.
inline constexpr std::chrono::milliseconds simulator_retry{100};

/// The store's versions are decimal numbers that grow: more digits, or later in order, is newer.
inline auto is_newer(shared_string const& a, shared_string const& b) noexcept -> bool {
  return a.size() != b.size() ? a.size() > b.size() : a.view() > b.view();
}

/// The state a server's timer goes by: all that are on their way out are one, and so are all that are pending.
inline auto phase_of(game_server const& server) noexcept -> game_server_state {
  using state = game_server_state;
  auto const now = server.status.state;
  return is_being_deleted(server) || now == state::error || now == state::unhealthy ? state::shutdown : counted_state(server);
}

struct simulated_key_hash {
  auto operator()(object_key const& key) const noexcept -> std::size_t {
    auto const hash = std::hash<shared_string>{};
    return hash(key.name) * 31 + hash(key.namespace_);
  }
};

/// A server that is no fleet's.
struct single_server {
  fleet_settings settings;
  std::vector<game_server_port_template> ports;
};

struct simulated_server {
  object_key key;
  std::uint64_t ticket{0};  ///< 0: the slot is free. Grows with every server: larger is younger
  std::uint32_t fleet{no_fleet};
  std::uint32_t member{0};                      ///< its place in the fleet's list
  game_server_ptr known;                        ///< the newest state seen; without a resource version: not created yet
  std::shared_ptr<single_server const> single;  ///< null for a fleet's
  std::optional<placement> place;
  timer::time_point born{};
  timer::time_point ready_at{};
  std::optional<timer::time_point> phase_due;  ///< when the phase is over; nothing: when something happens
  std::optional<timer::time_point> due;        ///< of the timer that is set: phase_due, or an earlier try
  /// The state that phase_due belongs to; `shutdown` for all that are on their way out.
  game_server_state phase{game_server_state::unset};
  bool writing{false};      ///< an action is under way
  bool doomed{false};       ///< its fleet wants it gone
  bool overflowing{false};  ///< its fleet wants the overflow labels on it
  bool overflowed{false};   ///< it has them, or will
  bool fails{false};        ///< will not become Ready
  bool answered{false};     ///< it has told the readiness gate what there is to tell
  bool stale{false};        ///< a write met a newer version that has not been seen yet
  // As counted in its fleet.
  bool live{false};
  bool deletable{false};

  auto is_created() const noexcept -> bool { return known && !known->meta.resource_version.empty(); }
};

struct simulated_fleet {
  fleet object;  ///< without status
  fleet_settings settings;
  shared_string set_name;  ///< its GameServerSet
  string_map labels;       ///< of its servers
  std::shared_ptr<meta_extra const> extra;
  std::vector<std::uint32_t> members;
  fleet_tally tally;
  std::int64_t live{0};       ///< servers that count as replicas, those being created included
  std::int64_t deletable{0};  ///< of these, what a scale-down may take
  std::int64_t overflowed{0};
  bool dirty{false};
  bool changed{false};
  bool waiting{false};  ///< for room
  bool told{false};     ///< that there is none, since its size was last changed
};

}  // namespace detail
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
