#pragma once

#include <agones_alloc/json/detail/write_game_server.hpp>
#include <agones_alloc/json/merge_patch.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void patch_strings(writer& to, std::string_view name, string_map const& base, string_map const& desired) {
  if (base == desired) return;
  to.key(name);
  if (desired.empty()) return to.raw("null");
  to.open('{');
  for (auto const [key, value] : base) {
    if (desired.contains(key)) continue;
    to.entry(key);
    to.raw("null");
  }
  for (auto const [key, value] : desired) {
    if (base.find(key) == value) continue;
    to.entry(key);
    to.text(value);
  }
  to.close('}');
}

template <class Value>
void patch_named(writer& to, std::string_view name, named_map<Value> const& base, named_map<Value> const& desired) {
  if (base == desired) return;
  to.key(name);
  if (desired.empty()) return to.raw("null");
  to.open('{');
  for (auto const& [key, value] : base) {
    if (desired.contains(key.view())) continue;
    to.entry(key);
    to.raw("null");
  }
  for (auto const& [key, value] : desired) {
    auto const before = base.find(key.view());
    if (before != base.end() && before->second == value) continue;
    to.entry(key);
    write_value(to, value);
  }
  to.close('}');
}

template <class T>
void patch_member(writer& to, std::string_view name, T const& base, T const& desired) {
  if (!(base == desired)) write_member(to, name, desired);
}

inline void patch_players(writer& to, game_server_status const& base, game_server_status const& desired) {
  auto const* before = base.players.get();
  auto const* after = desired.players.get();
  if (before == after || (before != nullptr && after != nullptr && *before == *after)) return;
  write_players(to, after);
}

inline void patch_eviction(writer& to, shared_string const& base, shared_string const& desired) {
  if (base == desired) return;
  if (!desired.empty()) return write_eviction(to, desired);
  to.key("eviction");
  to.raw("null");
}

inline void patch_status(writer& to, game_server_status const& base, game_server_status const& desired) {
  patch_member(to, "state", base.state, desired.state);
  if (base.ports != desired.ports) write_or_null(to, "ports", desired.ports.get());
  patch_member(to, "address", base.address, desired.address);
  if (base.addresses != desired.addresses) write_or_null(to, "addresses", desired.addresses.get());
  patch_member(to, "nodeName", base.node_name, desired.node_name);
  patch_member(to, "reservedUntil", base.reserved_until, desired.reserved_until);
  patch_players(to, base, desired);
  patch_named(to, "counters", base.counters.get(), desired.counters.get());
  patch_named(to, "lists", base.lists.get(), desired.lists.get());
  patch_eviction(to, base.eviction_safe, desired.eviction_safe);
}

}  // namespace detail::wire

AGONES_ALLOC_DECL void append_merge_patch(std::string& out, game_server const& base, game_server const& desired) {
  detail::wire::writer to{out};
  to.open('{');
  to.key("metadata");
  to.open('{');
  detail::wire::write_non_empty(to, "uid", base.meta.uid);
  detail::wire::write_non_empty(to, "resourceVersion", base.meta.resource_version);
  detail::wire::patch_strings(to, "labels", base.meta.labels, desired.meta.labels);
  detail::wire::patch_strings(to, "annotations", base.meta.annotations, desired.meta.annotations);
  to.close('}');
  if (!(base.status == desired.status)) {
    to.key("status");
    to.open('{');
    detail::wire::patch_status(to, base.status, desired.status);
    to.close('}');
  }
  to.close('}');
}

AGONES_ALLOC_DECL auto merge_patch(game_server const& base, game_server const& desired) -> std::string {
  std::string out;
  append_merge_patch(out, base, desired);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
