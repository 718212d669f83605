// Game servers and fleets as rows of a Table: what `kubectl get` prints (meta.k8s.io/v1).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct table_column {
  std::string_view name;
  std::string_view type;    ///< string, integer
  std::string_view format;  ///< `name` for the object's name, else ""
  std::string_view description;
};

/// The columns that Agones' own definitions have, after the name: State, Address, Port, Node, Age.
AGONES_ALLOC_DECL auto game_server_columns() noexcept -> std::span<table_column const>;
/// Scheduling, Desired, Current, Allocated, Ready, Age.
AGONES_ALLOC_DECL auto fleet_columns() noexcept -> std::span<table_column const>;

/// What a row carries of its object, besides the cells: the query parameter `includeObject`.
enum class row_object : std::uint8_t { none, metadata, whole };

/// Appends the array of column definitions.
AGONES_ALLOC_DECL void append_columns(std::string& out, std::span<table_column const>);

/// Appends one row. `now` is for the age. A server without ports has no port: `null`.
AGONES_ALLOC_DECL void append_row(std::string& out, game_server const&, row_object, timestamp now);
AGONES_ALLOC_DECL void append_row(std::string& out, fleet const&, row_object, timestamp now);

/// Whole units, two at most, coarser with age: `5s`, `3m20s`, `47m`, `5h3m`, `2d4h`, `30d`, `2y10d`. A moment in the
/// future that clocks may explain is `0s`, a later one `<invalid>`.
AGONES_ALLOC_DECL auto age_text(std::chrono::seconds age) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/table.ipp>
#endif
