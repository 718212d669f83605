// What the API of embedded fleets serves: game servers and fleets, seen as one.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/table.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/port/server_source.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

using fleet_ptr = std::shared_ptr<fleet const>;
/// Never null.
using api_object = std::variant<game_server_ptr, fleet_ptr>;

inline auto meta_of(api_object const& object) noexcept -> object_meta const& {
  return std::visit([](auto const& one) -> object_meta const& { return one->meta; }, object);
}

/// A kind's words.
struct api_kind {
  std::string_view kind;       ///< GameServer
  std::string_view plural;     ///< gameservers
  std::string_view singular;   ///< gameserver
  std::string_view shortened;  ///< gs
  std::span<table_column const> columns;
};

/// One state of all objects of a kind.
struct feed_list {
  std::vector<api_object> objects;  ///< sorted by namespace and name
  std::string resource_version;
};

struct feed_change {
  server_event::kind what{server_event::kind::modified};
  api_object object;  ///< after the change; of a deleted one, the last state
  /// Of `modified`: the labels before, if they were others. An object may enter or leave a selection that way.
  std::optional<string_map> labels_before;
};

struct feed_changes {
  std::vector<feed_change> changes;
  std::string resource_version;  ///< where to go on from
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
