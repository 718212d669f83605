#pragma once

#include <agones_alloc/flow/event_filter.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto event_types_of(std::string_view word) -> std::uint32_t {
  auto const dot = word.find('.');
  auto const kind = word.substr(0, dot);
  auto const what = dot == std::string_view::npos ? std::string_view{"*"} : word.substr(dot + 1);
  std::uint32_t out = 0;
  for (auto const one : {object_kind::game_server, object_kind::fleet}) {
    for (auto const change : {object_change::added, object_change::updated, object_change::deleted,
                              object_change::allocated, object_change::released}) {
      if ((kind == "*" || kind == to_string(one)) && (what == "*" || what == to_string(change))) out |= event_bit(one, change);
    }
  }
  return out;
}

inline auto event_spaces_off(std::string_view text) noexcept -> std::string_view {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// The next piece before a comma, taken off the front.
inline auto next_event_piece(std::string_view& text) noexcept -> std::string_view {
  auto const at = std::min(text.find(','), text.size());
  auto const out = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return event_spaces_off(out);
}

}  // namespace detail

AGONES_ALLOC_DECL auto wants(event_filter const& filter, object_event const& event) noexcept -> bool {
  if (filter.kinds_and_changes != 0 && (filter.kinds_and_changes & event_bit(event.kind(), event.what)) == 0) return false;
  auto const& meta = event.meta();
  if (!filter.namespaces.empty() &&
      std::find(filter.namespaces.begin(), filter.namespaces.end(), meta.namespace_) == filter.namespaces.end()) {
    return false;
  }
  return filter.labels.empty() || matches_labels(filter.labels, meta.labels);
}

AGONES_ALLOC_DECL auto wants_any_of(event_filter const& filter, object_kind kind) noexcept -> bool {
  return filter.kinds_and_changes == 0 || ((filter.kinds_and_changes >> (static_cast<unsigned>(kind) * 8)) & 0xffU) != 0;
}

AGONES_ALLOC_DECL auto parse_event_types(std::string_view text) -> std::variant<std::uint32_t, std::string> {
  std::uint32_t out = 0;
  if (text.ends_with(',')) return std::string{"nothing follows the last comma"};
  do {
    auto const word = detail::next_event_piece(text);
    // Of a fleet nothing is allocated or released: such a word would wait for ever.
    auto const bits = detail::event_types_of(word) & ~(event_bit(object_kind::fleet, object_change::allocated) |
                                                       event_bit(object_kind::fleet, object_change::released));
    if (bits == 0) {
      return "\"" + std::string{word} +
             "\" is no type of event; gameserver.added, .updated, .deleted, .allocated, .released, fleet.added, .updated, "
             ".deleted are, gameserver, fleet, and * for either part";
    }
    out |= bits;
  } while (!text.empty());
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
