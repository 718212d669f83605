#pragma once

#include <agones_alloc/detail/saturating.hpp>
#include <agones_alloc/select/apply.hpp>
#include <agones_alloc/select/claim.hpp>
#include <agones_alloc/select/detail/claim_reading.hpp>
#include <agones_alloc/select/detail/claim_text.hpp>
#include <agones_alloc/select/detail/time_text.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::size_t most_claims = 256;
inline constexpr std::size_t most_undo_bytes = 16 * 1024;  ///< annotations may have 256 KiB together

/// The text under `key` and what it says, where it is the claim of that id.
inline auto text_of_claim(game_server const& server, claim_key const& key, std::string_view id)
    -> std::optional<std::pair<std::string_view, claim_view>> {
  auto const text = server.meta.annotations.find(key);
  if (!text) return std::nullopt;
  std::string room;
  auto known = read_claim(*text, room);
  if (!known || known->id != id) return std::nullopt;
  known->id = id;  // the room is gone
  return std::pair{*text, *known};
}

/// What a new claim may meet in the annotations.
struct claim_surroundings {
  explicit claim_surroundings(string_map const& annotations) noexcept {
    // Both kinds of keys begin with "agones": what comes then tells nearly all others.
    constexpr auto name = std::string_view{"agones"}.size();
    for (auto const& [key, value] : annotations) {
      if (key.size() <= name) continue;
      if (key[name] == keys::claim_prefix[name]) {
        claims = claims || is_claim_key(key);
        expiry = expiry || key == keys::claim_expires_annotation;
      } else if (key.size() == keys::sdk_confirmed.size()) {
        confirmed = confirmed || key == keys::sdk_confirmed;
      }
    }
  }
  bool claims{false};
  bool confirmed{false};
  bool expiry{false};
};

/// What a patch changed in a map, so that it can be put back.
inline void note_text_changes(claim_writer& out, std::string_view set, std::string_view was, string_map const& before,
                              string_map const& after) {
  after.each_change_from(before, [&](std::string_view key, std::string_view value, std::optional<std::string_view> known) {
    if (is_claim_key(key) || key == keys::last_allocated_annotation || key == keys::sdk_confirmed || key == keys::claim_expires_annotation) return;
    out.add(set, key, value);
    if (known) out.add(was, key, *known);
  });
}

inline void note_counter_changes(claim_writer& out, game_server const& before, game_server const& after) {
  if (before.status.counters.same_block(after.status.counters)) return;
  for (auto const& [name, now] : after.status.counters) {
    auto const old = before.status.counters.find(name);
    if (old == before.status.counters.end()) continue;
    if (auto const by = saturating_sub(now.count, old->second.count); by != 0) {
      out.add(claim_field::counted, name, std::to_string(by));
    }
    if (now.capacity != old->second.capacity) {
      out.add(claim_field::capacity, name, std::to_string(now.capacity) + ":" + std::to_string(old->second.capacity));
    }
  }
}

inline void note_list_changes(claim_writer& out, game_server const& before, game_server const& after) {
  if (before.status.lists.same_block(after.status.lists)) return;
  for (auto const& [name, now] : after.status.lists) {
    auto const old = before.status.lists.find(name);
    if (old == before.status.lists.end()) continue;
    if (now.capacity != old->second.capacity) {
      out.add(claim_field::list_capacity, name, std::to_string(now.capacity) + ":" + std::to_string(old->second.capacity));
    }
    if (!now.values) continue;
    for (auto const& value : *now.values) {
      auto const& values = old->second.values;
      if (values && std::find(values->begin(), values->end(), value) != values->end()) continue;
      out.add(claim_field::added, name, value);
    }
  }
}

/// The first expiry of all claims but one.
inline auto first_expiry(game_server const& server, std::string_view except = {}) -> std::optional<wall_time> {
  std::optional<wall_time> first;
  std::string room;
  each_claim(server, [&](std::string_view key, std::string_view text) {
    if (key == except) return;
    auto const one = read_claim(text, room);
    if (one && one->expires && (!first || *one->expires < *first)) first = one->expires;
  });
  return first;
}

/// The claims' annotations and the first expiry, after a change of them.
inline void follow_claims(game_server& server) {
  if (auto const first = first_expiry(server)) {
    server.meta.annotations.set(keys::claim_expires_annotation, detail::time_text{*first});
  } else {
    server.meta.annotations.erase(keys::claim_expires_annotation);
  }
}

inline void forget_old_claims(game_server& server, std::string_view kept, wall_time forget_before) {
  std::vector<std::pair<wall_time, std::string>> confirmed;
  std::string room;
  each_claim(server, [&](std::string_view key, std::string_view text) {
    if (key == kept) return;
    auto const one = read_claim(text, room);
    if (one && !one->expires) confirmed.emplace_back(one->made, key);
  });
  std::sort(confirmed.begin(), confirmed.end());
  auto const spare = confirmed.size() >= most_claims ? confirmed.size() - most_claims + 1 : 0;
  for (std::size_t i = 0; i != confirmed.size(); ++i) {
    if (i < spare || confirmed[i].first < forget_before) server.meta.annotations.erase(confirmed[i].second);
  }
}

/// Writes what the game has confirmed into the claims it was said of.
inline void keep_confirmations(game_server& server) {
  std::vector<std::pair<std::string, std::string>> kept;
  game_confirmation const confirmed{server};
  std::string room;
  each_claim(server, [&](std::string_view key, std::string_view text) {
    auto const one = read_claim(text, room);
    if (!one || !one->expires || !confirmed.covers(one->id)) return;
    claim_fields fields{text};
    fields.erase(claim_field::expires);
    kept.emplace_back(key, fields.text());
  });
  for (auto const& [key, text] : kept) server.meta.annotations.set(key, text);
}

inline void undo_text(string_map& map, claim_fields const& fields, std::string_view set, std::string_view was,
                      release_report& report) {
  fields.each(set, [&](std::string const& key, std::string const& value) {
    if (map.find(key) != std::optional<std::string_view>{value}) {
      report.push_back(std::string{set} + key + ": changed since");
      return;
    }
    if (auto const old = fields.value(std::string{was} + key)) {
      map.set(key, *old);
    } else {
      map.erase(key);
    }
  });
}

/// "now:before" as two numbers.
inline auto parse_capacities(std::string_view text) -> std::optional<std::array<std::int64_t, 2>> {
  auto const colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto const now = parse_number(text.substr(0, colon));
  auto const before = parse_number(text.substr(colon + 1));
  if (!now || !before) return std::nullopt;
  return std::array{*now, *before};
}

inline void undo_capacity(std::int64_t& capacity, std::string const& name, std::string_view text, release_report& report) {
  auto const both = parse_capacities(text);
  if (!both) return;
  if (capacity == (*both)[0]) {
    capacity = (*both)[1];
  } else {
    report.push_back("capacity of " + name + ": changed since");
  }
}

inline void undo_counters(game_server& server, claim_fields const& fields, release_report& report) {
  auto const at = [&server](std::string const& name) {
    auto const found = server.status.counters.find(name);
    return found == server.status.counters.end() ? nullptr : &found->second;
  };
  fields.each(claim_field::capacity, [&](std::string const& name, std::string const& text) {
    if (auto* const counter = at(name)) undo_capacity(counter->capacity, name, text, report);
  });
  fields.each(claim_field::counted, [&](std::string const& name, std::string const& text) {
    auto* const counter = at(name);
    auto const by = parse_number(text);
    if (!by) return;
    if (counter == nullptr) return report.push_back("counter " + name + ": is gone");
    auto const wanted = saturating_sub(counter->count, *by);
    counter->count = std::clamp<std::int64_t>(wanted, 0, std::max<std::int64_t>(counter->capacity, 0));
    if (counter->count != wanted) report.push_back("counter " + name + ": changed since");
  });
}

inline void undo_lists(game_server& server, claim_fields const& fields, release_report& report) {
  auto const at = [&server](std::string const& name) {
    auto const found = server.status.lists.find(name);
    return found == server.status.lists.end() ? nullptr : &found->second;
  };
  fields.each(claim_field::added, [&](std::string const& name, std::string const& value) {
    auto* const list = at(name);
    if (list != nullptr && list->values && std::erase(*list->values, shared_string{value}) != 0) return;
    report.push_back("list " + name + ": " + value + " is gone");
  });
  fields.each(claim_field::list_capacity, [&](std::string const& name, std::string const& text) {
    if (auto* const list = at(name)) undo_capacity(list->capacity, name, text, report);
  });
}

}  // namespace detail

AGONES_ALLOC_DECL auto request_id_problem(std::string_view id) -> std::string {
  if (id.empty()) return "must not be empty";
  if (id.size() > 256) return "must not have more than 256 characters";
  auto const visible = [](char c) { return c > ' ' && c < '\x7f'; };
  if (!std::all_of(id.begin(), id.end(), visible)) return "must have visible characters of ASCII only";
  return {};
}

AGONES_ALLOC_DECL auto claim_annotation(std::string_view id) -> std::string { return std::string{detail::claim_key{id}}; }

AGONES_ALLOC_DECL auto write_claim(game_server& desired, game_server const& base, claim_terms const& terms, wall_time now,
                                   wall_time forget_before) -> bool {
  detail::claim_key const key{terms.id};
  detail::claim_surroundings const met{desired.meta.annotations};
  auto const others = met.claims;
  // What was confirmed so far was said of the claims so far, and not of this one.
  if (others) detail::keep_confirmations(desired);
  if (met.confirmed) desired.meta.annotations.erase(keys::sdk_confirmed);
  if (terms.patches) desired.meta.labels.erase(keys::sdk_confirmed);
  if (others) detail::forget_old_claims(desired, key, forget_before);
  detail::claim_writer head;
  head.add(detail::claim_field::id, {}, terms.id);
  std::array<char, 16> digits;
  detail::put_digits(terms.digest, digits.data());
  head.add_plain(detail::claim_field::digest, {digits.data(), digits.size()});
  head.add_plain(detail::claim_field::made, detail::time_text{now});
  if (terms.expires) head.add_plain(detail::claim_field::expires, detail::time_text{*terms.expires});
  if (base.status.state == game_server_state::ready) head.add_plain(detail::claim_field::fresh, "true");
  detail::claim_writer undo;
  if (terms.patches) {
    detail::note_text_changes(undo, detail::claim_field::label, detail::claim_field::label_was, base.meta.labels, desired.meta.labels);
    detail::note_text_changes(undo, detail::claim_field::annotation, detail::claim_field::annotation_was, base.meta.annotations,
                              desired.meta.annotations);
  }
  detail::note_counter_changes(undo, base, desired);
  detail::note_list_changes(undo, base, desired);
  if (undo.text().size() > detail::most_undo_bytes) {
    head.add_plain(detail::claim_field::lost, "true");
  } else {
    head.append(undo);
  }
  auto first = others ? detail::first_expiry(desired, key) : std::nullopt;
  if (terms.expires && (!first || *terms.expires < *first)) first = terms.expires;
  if (first) {
    desired.meta.annotations.set({{keys::claim_expires_annotation, detail::time_text{*first}}, {key, head.text()}});
  } else {
    desired.meta.annotations.set(key, head.text());
    if (met.expiry) desired.meta.annotations.erase(keys::claim_expires_annotation);
  }
  return !others;
}

AGONES_ALLOC_DECL auto find_claim(game_server const& server, std::string_view id) -> std::optional<claim_record> {
  auto const found = detail::text_of_claim(server, detail::claim_key{id}, id);
  if (!found) return std::nullopt;
  auto const& known = found->second;
  claim_record out{std::string{id}, known.digest, known.made, known.expires};
  if (out.expires && detail::game_confirmation{server}.covers(id)) out.expires = std::nullopt;
  return out;
}

AGONES_ALLOC_DECL auto claims_of(game_server const& server) -> std::vector<claim_record> {
  std::vector<claim_record> out;
  detail::each_claim_of(server, [&out](detail::claim_view const& one) {
    out.push_back({std::string{one.id}, one.digest, one.made, one.expires});
  });
  return out;
}

AGONES_ALLOC_DECL auto has_claims(game_server const& server) noexcept -> bool {
  auto const at = server.meta.annotations.first_with(keys::claim_prefix);
  return at.has_value();
}

AGONES_ALLOC_DECL auto confirm_claim(game_server& server, std::string_view id) -> bool {
  detail::claim_key const key{id};
  auto const found = detail::text_of_claim(server, key, id);
  if (!found) return false;
  if (!found->second.expires) return true;
  auto kept = detail::claim_fields{found->first};
  kept.erase(detail::claim_field::expires);
  server.meta.annotations.set(key, kept.text());
  detail::follow_claims(server);
  return true;
}

AGONES_ALLOC_DECL auto expire_claim_at(game_server& server, std::string_view id, wall_time when) -> bool {
  detail::claim_key const key{id};
  auto const found = detail::text_of_claim(server, key, id);
  if (!found) return false;
  auto kept = detail::claim_fields{found->first};
  kept.erase(detail::claim_field::expires);
  detail::claim_writer added;
  added.add(detail::claim_field::expires, {}, detail::time_text{when});
  server.meta.annotations.set(key, kept.text().append("&").append(added.text()));
  detail::follow_claims(server);
  return true;
}

AGONES_ALLOC_DECL auto release_claim(game_server& server, std::string_view id, release_to to) -> std::optional<release_report> {
  detail::claim_key const key{id};
  auto const found = detail::text_of_claim(server, key, id);
  if (!found) return std::nullopt;
  detail::claim_fields const fields{found->first};
  release_report report;
  if (fields.value(detail::claim_field::lost)) report.emplace_back("labels, annotations, counters and lists: there were too many changes to keep");
  detail::undo_text(server.meta.labels, fields, detail::claim_field::label, detail::claim_field::label_was, report);
  detail::undo_text(server.meta.annotations, fields, detail::claim_field::annotation, detail::claim_field::annotation_was, report);
  detail::undo_counters(server, fields, report);
  detail::undo_lists(server, fields, report);
  server.meta.annotations.erase(key);
  auto const fresh = fields.value(detail::claim_field::fresh).has_value();
  if (fresh) {
    std::string heir;
    std::string inherited;
    detail::each_claim(server, [&](std::string_view other, std::string_view value) {
      if (!heir.empty()) return;
      // Whoever is left inherits that the server was Ready once: the last one to go gives it back.
      heir = other;
      inherited = std::string{value} + "&" + std::string{detail::claim_field::fresh} + "=true";
    });
    if (heir.empty()) {
      server.status.state = to == release_to::ready ? game_server_state::ready : game_server_state::shutdown;
      // The next to allocate it must not see its predecessor's.
      server.meta.annotations.erase(keys::last_allocated_annotation);
      server.meta.annotations.erase(keys::sdk_confirmed);
      server.meta.labels.erase(keys::sdk_confirmed);
    } else {
      server.meta.annotations.set(heir, inherited);
    }
  }
  detail::follow_claims(server);
  return report;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
