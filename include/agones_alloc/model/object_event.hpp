// What happened to a game server or a fleet, for others to hear of.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

using fleet_ptr = std::shared_ptr<fleet const>;

enum class object_kind : std::uint8_t { game_server, fleet };

/// `allocated` and `released` are of game servers only.
enum class object_change : std::uint8_t { added, updated, deleted, allocated, released };

/// `gameserver`, `fleet`.
AGONES_ALLOC_DECL auto to_string(object_kind) noexcept -> std::string_view;
/// `added`, ...
AGONES_ALLOC_DECL auto to_string(object_change) noexcept -> std::string_view;
AGONES_ALLOC_DECL auto object_kind_from(std::string_view) noexcept -> std::optional<object_kind>;
AGONES_ALLOC_DECL auto object_change_from(std::string_view) noexcept -> std::optional<object_change>;

/// What an event is about: events with equal identities are told in order. By UID; without one, by namespace and name.
struct object_identity {
  object_kind kind{object_kind::game_server};
  shared_string first;   ///< UID, or namespace
  shared_string second;  ///< "", or name
  friend auto operator==(object_identity const&, object_identity const&) -> bool = default;
};

struct object_identity_hash {
  auto operator()(object_identity const& id) const noexcept -> std::size_t {
    auto const hash = std::hash<std::string_view>{};
    return (hash(id.first.view()) * 31 + hash(id.second.view())) * 2 + static_cast<std::size_t>(id.kind);
  }
};

/// One change. A value that shares the object it is about.
struct object_event {
  using wall_time = std::chrono::sys_time<std::chrono::nanoseconds>;

  object_change what{object_change::updated};
  game_server_ptr server;   ///< of these two, one: the object as the change left it; for `deleted`, as it was known last
  fleet_ptr fleet_object;
  shared_string revision;   ///< its resource version, or a number in its place where it has none
  std::optional<game_server_state> before;  ///< the server's state before, where it is known
  wall_time at{};           ///< when it was noticed
  std::uint64_t merged{0};  ///< earlier changes that this event stands for, too

  auto kind() const noexcept -> object_kind { return server ? object_kind::game_server : object_kind::fleet; }
  auto meta() const noexcept -> object_meta const& { return server ? server->meta : fleet_object->meta; }
};

AGONES_ALLOC_DECL auto identity_of(object_event const&) -> object_identity;
/// An estimate of the memory that the event keeps from being freed, not below it for objects as Agones has them: what
/// objects share (the spec of a fleet's servers) counts for each.
AGONES_ALLOC_DECL auto held_bytes(object_event const&) noexcept -> std::size_t;

/// Events that are sent together, in order; never empty, never changed.
struct event_batch {
  std::vector<object_event> events;
};
using event_batch_ptr = std::shared_ptr<event_batch const>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/model/object_event.ipp>
#endif
