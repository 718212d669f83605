#pragma once

#include <agones_alloc/model/object_event.hpp>

#include <array>
#include <type_traits>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::array<std::pair<object_kind, std::string_view>, 2> object_kind_words{
    {{object_kind::game_server, "gameserver"}, {object_kind::fleet, "fleet"}}};
inline constexpr std::array<std::pair<object_change, std::string_view>, 5> object_change_words{
    {{object_change::added, "added"},
     {object_change::updated, "updated"},
     {object_change::deleted, "deleted"},
     {object_change::allocated, "allocated"},
     {object_change::released, "released"}}};

template <class Words>
auto event_word_of(Words const& words, std::string_view text) noexcept {
  using value = decltype(words[0].first);
  std::optional<std::remove_cv_t<value>> out;
  for (auto const& [one, word] : words) {
    if (word == text) out = one;
  }
  return out;
}

/// With what an allocation costs beyond its text.
inline auto held_text(shared_string const& text) noexcept -> std::size_t { return text.empty() ? 0 : text.size() + 24; }

inline auto held_map(string_map const& map) noexcept -> std::size_t {
  return map.empty() ? 0 : map.bytes().size() + 24;
}

inline auto held_meta(object_meta const& meta) noexcept -> std::size_t {
  auto out = held_text(meta.name) + held_text(meta.uid) + held_text(meta.resource_version) + held_map(meta.labels) +
             held_map(meta.annotations);
  if (meta.extra) {
    out += sizeof(meta_extra) + 32 + held_text(meta.extra->owner_references) + held_text(meta.extra->managed_fields);
    for (auto const& one : meta.extra->finalizers) out += sizeof one + held_text(one);
  }
  return out;
}

inline auto held_server(game_server const& server) noexcept -> std::size_t {
  auto const& status = server.status;
  auto out = sizeof server + 32 + held_meta(server.meta) + held_text(server.spec) + held_text(status.address) +
             status.ports.get().capacity() * sizeof(game_server_port) + status.addresses.get().capacity() * sizeof(node_address);
  for (auto const& one : status.addresses) out += held_text(one.address);
  for (auto const& [name, counter] : status.counters) out += sizeof name + sizeof counter + held_text(name);
  for (auto const& [name, list] : status.lists) {
    out += sizeof name + sizeof list + held_text(name);
    if (!list.values) continue;
    for (auto const& value : *list.values) out += sizeof value + held_text(value);
  }
  if (status.players) {
    out += sizeof *status.players;
    for (auto const& id : status.players->ids) out += sizeof id + held_text(id);
  }
  return out;
}

inline auto held_fleet(fleet const& one) noexcept -> std::size_t {
  auto const& made = one.server_template;
  return sizeof one + 32 + held_meta(one.meta) + held_text(made.spec) + held_map(made.labels) + held_map(made.annotations) +
         (one.status.counters.size() + one.status.lists.size()) * (sizeof(aggregated_capacity) + 64);
}

}  // namespace detail

AGONES_ALLOC_DECL auto to_string(object_kind kind) noexcept -> std::string_view {
  switch (kind) {
    case object_kind::game_server: return "gameserver";
    case object_kind::fleet: break;
  }
  return "fleet";
}

AGONES_ALLOC_DECL auto to_string(object_change what) noexcept -> std::string_view {
  return detail::object_change_words[static_cast<std::size_t>(what)].second;
}

AGONES_ALLOC_DECL auto object_kind_from(std::string_view text) noexcept -> std::optional<object_kind> {
  return detail::event_word_of(detail::object_kind_words, text);
}

AGONES_ALLOC_DECL auto object_change_from(std::string_view text) noexcept -> std::optional<object_change> {
  return detail::event_word_of(detail::object_change_words, text);
}

AGONES_ALLOC_DECL auto identity_of(object_event const& event) -> object_identity {
  auto const& meta = event.meta();
  if (!meta.uid.empty()) return {event.kind(), meta.uid, {}};
  return {event.kind(), meta.namespace_, meta.name};
}

AGONES_ALLOC_DECL auto held_bytes(object_event const& event) noexcept -> std::size_t {
  // Beside the event itself: its node in a queue and its object's entry in a table.
  constexpr std::size_t place = sizeof(object_event) + 256;
  return place + detail::held_text(event.revision) +
         (event.server ? detail::held_server(*event.server) : detail::held_fleet(*event.fleet_object));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
