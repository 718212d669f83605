#pragma once

#include <agones_alloc/json/detail/write_meta.hpp>
#include <agones_alloc/json/detail/writer.hpp>
#include <agones_alloc/json/table.hpp>
#include <agones_alloc/json/write.hpp>

#include <algorithm>
#include <array>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline constexpr table_column name_column{"Name", "string", "name", "Name of the object, unique in its namespace."};
inline constexpr table_column age_column{"Age", "string", "", "Time since the object was created."};

inline constexpr std::array<table_column, 6> game_server_table{
    name_column,
    table_column{"State", "string", "", "Where in its life the game server is."},
    table_column{"Address", "string", "", "Where players reach it."},
    table_column{"Port", "integer", "", "The first of its ports."},
    table_column{"Node", "string", "", "The node that it is on."},
    age_column};

inline constexpr std::array<table_column, 7> fleet_table{
    name_column,
    table_column{"Scheduling", "string", "", "Packed or Distributed."},
    table_column{"Desired", "integer", "", "How many game servers are wanted."},
    table_column{"Current", "integer", "", "How many there are."},
    table_column{"Allocated", "integer", "", "How many of them are in use."},
    table_column{"Ready", "integer", "", "How many of them wait to be allocated."},
    age_column};

inline void write_age(writer& to, object_meta const& meta, timestamp now) {
  if (meta.creation_timestamp == unset_time) return to.text("<unknown>");
  to.text(age_text(now - meta.creation_timestamp));
}

/// The row's object, and its end.
template <class Object>
void finish_row(writer& to, Object const& object, row_object what) {
  to.close(']');
  switch (what) {
    case row_object::none: break;
    case row_object::metadata:
      to.key("object");
      open_object(to, "PartialObjectMetadata", "meta.k8s.io/v1", object.meta, object.meta.name);
      to.close('}');
      break;
    case row_object::whole: {
      to.key("object");
      to.raw(to_json(object));
      break;
    }
  }
  to.close('}');
}

inline void open_row(writer& to, object_meta const& meta) {
  to.open('{');
  to.key("cells");
  to.open('[');
  to.text(meta.name);
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto game_server_columns() noexcept -> std::span<table_column const> {
  return detail::wire::game_server_table;
}

AGONES_ALLOC_DECL auto fleet_columns() noexcept -> std::span<table_column const> { return detail::wire::fleet_table; }

AGONES_ALLOC_DECL void append_columns(std::string& out, std::span<table_column const> columns) {
  detail::wire::writer to{out};
  to.open('[');
  for (auto const& column : columns) {
    to.open('{');
    to.key("name");
    to.text(column.name);
    to.key("type");
    to.text(column.type);
    to.key("format");
    to.text(column.format);
    to.key("description");
    to.text(column.description);
    to.key("priority");
    to.number(0);
    to.close('}');
  }
  to.close(']');
}

AGONES_ALLOC_DECL void append_row(std::string& out, game_server const& server, row_object what, timestamp now) {
  detail::wire::writer to{out};
  detail::wire::open_row(to, server.meta);
  to.text(to_string(server.status.state));
  to.text(server.status.address);
  if (server.status.ports.empty()) {
    to.raw("null");
  } else {
    to.number(server.status.ports.front().port);
  }
  to.text(server.status.node_name);
  detail::wire::write_age(to, server.meta, now);
  detail::wire::finish_row(to, server, what);
}

AGONES_ALLOC_DECL void append_row(std::string& out, fleet const& value, row_object what, timestamp now) {
  detail::wire::writer to{out};
  detail::wire::open_row(to, value.meta);
  to.text(value.scheduling.empty() ? std::string_view{"Packed"} : value.scheduling.view());
  to.number(value.replicas);
  to.number(value.status.replicas);
  to.number(value.status.allocated_replicas);
  to.number(value.status.ready_replicas);
  detail::wire::write_age(to, value.meta, now);
  detail::wire::finish_row(to, value, what);
}

AGONES_ALLOC_DECL auto age_text(std::chrono::seconds age) -> std::string {
  using namespace std::chrono;
  if (age < seconds{-1}) return "<invalid>";
  struct unit {
    seconds size;
    char letter;
  };
  constexpr unit second{seconds{1}, 's'};
  constexpr unit minute{minutes{1}, 'm'};
  constexpr unit hour{hours{1}, 'h'};
  constexpr unit day{hours{24}, 'd'};
  constexpr unit year{hours{24 * 365}, 'y'};
  /// Below `until`, the age is told in `first`, and in what is left over in `second` where that has a letter.
  struct step {
    seconds until;
    unit first;
    unit then;
  };
  constexpr unit nothing{seconds{1}, '\0'};
  static constexpr std::array<step, 9> steps{{{minutes{2}, second, nothing},
                                              {minutes{10}, minute, second},
                                              {hours{3}, minute, nothing},
                                              {hours{8}, hour, minute},
                                              {hours{48}, hour, nothing},
                                              {hours{24 * 8}, day, hour},
                                              {hours{24 * 365 * 2}, day, nothing},
                                              {hours{24 * 365 * 8}, year, day},
                                              {seconds::max(), year, nothing}}};
  age = std::max(age, seconds{0});
  auto const at = std::find_if(steps.begin(), steps.end(), [age](step const& one) { return age < one.until; });
  auto const& [until, first, then] = at == steps.end() ? steps.back() : *at;
  auto out = std::to_string(age / first.size) + first.letter;
  if (auto const rest = (age % first.size) / then.size; then.letter != '\0' && rest != 0) {
    out += std::to_string(rest) + then.letter;
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
