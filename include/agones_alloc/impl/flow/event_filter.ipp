#pragma once

#include <agones_alloc/flow/event_filter.hpp>

#include <algorithm>
#include <optional>
#include <utility>

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

/// The next piece before a comma that is not in parentheses, taken off the front.
inline auto next_event_piece(std::string_view& text) noexcept -> std::string_view {
  std::size_t at = 0;
  for (int depth = 0; at < text.size() && (text[at] != ',' || depth > 0); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')') --depth;
  }
  auto const out = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return event_spaces_off(out);
}

/// `key in (a,b)`, `key notin (a)`; nothing for another form.
inline auto set_requirement(std::string_view piece) -> std::optional<label_requirement> {
  auto const open = piece.find('(');
  if (open == std::string_view::npos || !piece.ends_with(')')) return std::nullopt;
  auto const head = event_spaces_off(piece.substr(0, open));
  auto const space = head.rfind(' ');
  if (space == std::string_view::npos) return std::nullopt;
  auto const word = head.substr(space + 1);
  if (word != "in" && word != "notin") return std::nullopt;
  label_requirement out{event_spaces_off(head.substr(0, space)), word == "in" ? "In" : "NotIn", {}};
  auto values = piece.substr(open + 1, piece.size() - open - 2);
  do {
    out.values.emplace_back(next_event_piece(values));
  } while (!values.empty());
  return out;
}

inline auto label_requirement_of(std::string_view piece) -> label_requirement {
  if (auto set = set_requirement(piece)) return *std::move(set);
  if (piece.starts_with('!')) return {event_spaces_off(piece.substr(1)), "DoesNotExist", {}};
  auto const at = piece.find('=');
  if (at == std::string_view::npos) return {piece, "Exists", {}};
  auto const negated = at > 0 && piece[at - 1] == '!';
  auto const doubled = at + 1 < piece.size() && piece[at + 1] == '=';
  return {event_spaces_off(piece.substr(0, negated ? at - 1 : at)), negated ? "NotIn" : "In",
          {event_spaces_off(piece.substr(at + (doubled && !negated ? 2 : 1)))}};
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

AGONES_ALLOC_DECL auto parse_label_selector(std::string_view text) -> std::variant<label_selector, std::string> {
  label_selector out;
  if (text.ends_with(',')) return std::string{"nothing follows the last comma"};
  do {
    auto const piece = detail::next_event_piece(text);
    if (piece.empty()) return std::string{"an empty requirement"};
    out.match_expressions.push_back(detail::label_requirement_of(piece));
  } while (!text.empty());
  std::vector<label_clause> compiled;
  if (auto problem = compile_labels(out, compiled)) return *std::move(problem);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
