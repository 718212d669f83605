// GameServer of agones.dev/v1: the parts allocation reads and writes (spec 1.4).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/detail/small_blocks.hpp>
#include <agones_alloc/model/meta.hpp>
#include <agones_alloc/model/named_map.hpp>
#include <agones_alloc/model/shared_copy.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// status.state: the closed set of the CRD, `allocating` for patched CRDs (spec 12.2, option C).
enum class game_server_state : std::uint8_t {
  unset,  ///< "" on the wire
  port_allocation,
  creating,
  starting,
  scheduled,
  request_ready,
  ready,
  allocated,
  reserved,
  shutdown,
  error,
  unhealthy,
  allocating,
  other,  ///< a word this version does not know; never a candidate
};

/// The wire word (`RequestReady`, ...); "" for unset, "Unknown" for other.
AGONES_ALLOC_DECL auto to_string(game_server_state) noexcept -> std::string_view;
/// The state of a wire word; `other` for words it does not know, `unset` for "".
AGONES_ALLOC_DECL auto game_server_state_from(std::string_view) noexcept -> game_server_state;

struct game_server_port {
  shared_string name;
  std::int32_t port{0};
  friend auto operator==(game_server_port const&, game_server_port const&) -> bool = default;
};

struct node_address {
  shared_string type;
  shared_string address;
  friend auto operator==(node_address const&, node_address const&) -> bool = default;
};

struct counter_status {
  std::int64_t count{0};
  std::int64_t capacity{0};
  friend auto operator==(counter_status const&, counter_status const&) -> bool = default;
};

struct list_status {
  std::int64_t capacity{0};
  /// Absent (`null`) and empty (`[]`) print differently (spec 1.3, 7.2).
  std::optional<std::vector<shared_string>> values;
  auto count() const noexcept -> std::int64_t { return values ? static_cast<std::int64_t>(values->size()) : 0; }
  friend auto operator==(list_status const&, list_status const&) -> bool = default;
};

struct player_status {
  std::int64_t count{0};
  std::int64_t capacity{0};
  std::vector<shared_string> ids;
  friend auto operator==(player_status const&, player_status const&) -> bool = default;
};

struct game_server_status {
  game_server_state state{game_server_state::unset};
  shared_copy<std::vector<game_server_port>> ports;
  shared_string address;
  shared_copy<std::vector<node_address>> addresses;
  shared_string node_name;
  timestamp reserved_until{unset_time};
  std::shared_ptr<player_status const> players;  ///< null when absent
  shared_copy<named_map<counter_status>> counters;
  shared_copy<named_map<list_status>> lists;
  shared_string eviction_safe;  ///< status.eviction.safe, "" when absent

  friend auto operator==(game_server_status const& a, game_server_status const& b) -> bool {
    return a.state == b.state && a.ports == b.ports && a.address == b.address && a.addresses == b.addresses &&
           a.node_name == b.node_name && a.reserved_until == b.reserved_until &&
           (a.players == b.players || (a.players && b.players && *a.players == *b.players)) && a.counters == b.counters &&
           a.lists == b.lists && a.eviction_safe == b.eviction_safe;
  }
};

/// A value. Cached as `std::shared_ptr<game_server const>` and never changed in place.
struct game_server {
  object_meta meta;
  shared_string spec;  ///< JSON text of .spec, kept but not understood; servers of one fleet share it
  game_server_status status;

  friend auto operator==(game_server const&, game_server const&) -> bool = default;
};

using game_server_ptr = std::shared_ptr<game_server const>;

namespace detail {
/// A server of its own, to be changed; servers come and go all the time, and their memory with them.
template <class Server>
auto copy_of(Server&& server) -> std::shared_ptr<game_server> {
  return std::allocate_shared<game_server>(small_block_allocator<game_server>{}, std::forward<Server>(server));
}
}  // namespace detail

/// deletionTimestamp set, or state Shutdown (spec 1.4).
inline auto is_being_deleted(game_server const& server) noexcept -> bool {
  return server.meta.deletion_timestamp != unset_time || server.status.state == game_server_state::shutdown;
}

/// Ready or Allocated and not being deleted: what the ready cache holds (spec 4.1).
inline auto is_allocatable(game_server const& server) noexcept -> bool {
  return (server.status.state == game_server_state::ready || server.status.state == game_server_state::allocated) &&
         !is_being_deleted(server);
}

namespace keys {
inline constexpr std::string_view fleet_label = "agones.dev/fleet";
inline constexpr std::string_view game_server_set_label = "agones.dev/gameserverset";
inline constexpr std::string_view last_allocated_annotation = "agones.dev/last-allocated";
}  // namespace keys

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/model/game_server.ipp>
#endif
