#pragma once

#include <agones_alloc/detail/hash.hpp>
#include <agones_alloc/detail/saturating.hpp>
#include <agones_alloc/select/apply.hpp>
#include <agones_alloc/select/claim.hpp>
#include <agones_alloc/select/detail/claim_text.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::size_t most_claims = 256;
inline constexpr std::size_t most_undo_bytes = 16 * 1024;  ///< annotations may have 256 KiB together

/// Sixteen digits, written to `out`.
inline void put_digits(std::uint64_t number, char* out) noexcept {
  static constexpr std::string_view hex = "0123456789abcdef";
  for (auto* at = out + 16; at != out; number >>= 4) *--at = hex[number & 15];
}
inline auto digits_of(std::uint64_t number) -> std::string {
  std::string out(16, '0');
  put_digits(number, out.data());
  return out;
}

/// What follows the prefix. Two hashes: ids come from callers, and one must not be able to stand in the way of another.
inline auto claim_digits(std::string_view id) noexcept -> std::array<char, 32> {
  std::array<char, 32> out;
  put_digits(stable_hash{}.add(id).value(), out.data());
  put_digits(stable_hash{}.add(std::string_view{"claim"}).add(id).value(), out.data() + 16);
  return out;
}

inline auto claim_key(std::string_view id) -> std::string {
  auto const digits = claim_digits(id);
  std::string out;
  out.reserve(keys::claim_prefix.size() + digits.size());
  return out.append(keys::claim_prefix).append(digits.data(), digits.size());
}

/// Fields of a claim's annotation: `name=value` joined by `&`, each percent-encoded. Those of the undo part come in threes: what, its name, and how it was.
namespace claim_field {
inline constexpr std::string_view id = "id";
inline constexpr std::string_view digest = "digest";
inline constexpr std::string_view made = "made";
inline constexpr std::string_view expires = "expires";
inline constexpr std::string_view fresh = "fresh";  ///< the server was Ready before its first claim
inline constexpr std::string_view lost = "lost";    ///< the rest was too long to be kept
inline constexpr std::string_view label = "label.";
inline constexpr std::string_view annotation = "annotation.";
inline constexpr std::string_view label_was = "label-was.";
inline constexpr std::string_view annotation_was = "annotation-was.";
inline constexpr std::string_view counted = "counter.";
inline constexpr std::string_view capacity = "counter-capacity.";
inline constexpr std::string_view added = "list.";
inline constexpr std::string_view list_capacity = "list-capacity.";
}  // namespace claim_field

inline auto is_claim_key(std::string_view key) noexcept -> bool { return key.starts_with(keys::claim_prefix); }

/// f(key, text) for each annotation with a claim; the map must not change meanwhile.
template <class F>
void each_claim(game_server const& server, F f) {
  auto const& annotations = server.meta.annotations;
  for (auto at = annotations.from(keys::claim_prefix); at != annotations.end(); ++at) {
    auto const [key, text] = *at;
    if (!is_claim_key(key)) return;
    f(key, text);
  }
}

template <class Fields>
auto read_claim_of(Fields fields) -> std::optional<claim_record> {
  claim_record out;
  out.id = fields.value(claim_field::id).value_or("");
  auto const digest = parse_digits(fields.value(claim_field::digest).value_or(""));
  auto const made = parse_rfc3339_nano(fields.value(claim_field::made).value_or(""));
  if (!request_id_problem(out.id).empty() || !digest || !made) return std::nullopt;
  out.digest = *digest;
  out.made = *made;
  if (auto const expires = fields.value(claim_field::expires)) {
    out.expires = parse_rfc3339_nano(*expires);
    if (!out.expires) return std::nullopt;
  }
  return out;
}
inline auto read_claim(std::string_view text) -> std::optional<claim_record> {
  if (text.find('%') == std::string_view::npos) return read_claim_of(plain_claim_fields{text});
  return read_claim_of(claim_fields{text});
}

/// "true" for all, or one id; a label's value cannot have every id in it.
inline auto confirmed_by_game(game_server const& server, std::string_view id) noexcept -> bool {
  for (auto const* map : {&server.meta.annotations, &server.meta.labels}) {
    auto const said = map->value_or_empty(keys::sdk_confirmed);
    if (said == "true" || said == id) return true;
  }
  return false;
}

/// What a patch changed in a map, so that it can be put back.
inline void note_text_changes(claim_writer& out, std::string_view set, std::string_view was, string_map const& before,
                              string_map const& after) {
  if (before.same_block(after)) return;
  auto old = before.begin();
  for (auto const [key, value] : after) {
    while (old != before.end() && (*old).first < key) ++old;
    auto const known = old != before.end() && (*old).first == key;
    if ((known && (*old).second == value) || is_claim_key(key) || key == keys::last_allocated_annotation ||
        key == keys::sdk_confirmed || key == keys::claim_expires_annotation) {
      continue;
    }
    out.add(set, key, value);
    if (known) out.add(was, key, (*old).second);
  }
}

inline void note_counter_changes(claim_writer& out, game_server const& before, game_server const& after) {
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
  each_claim(server, [&](std::string_view key, std::string_view text) {
    if (key == except) return;
    auto const one = read_claim(text);
    if (one && one->expires && (!first || *one->expires < *first)) first = one->expires;
  });
  return first;
}

inline void tell_first_expiry(game_server& server, std::optional<wall_time> first) {
  if (first) {
    server.meta.annotations.set(keys::claim_expires_annotation, rfc3339_nano(*first));
  } else {
    server.meta.annotations.erase(keys::claim_expires_annotation);
  }
}

/// The claims' annotations and the first expiry, after a change of them.
inline void follow_claims(game_server& server) { tell_first_expiry(server, first_expiry(server)); }

inline void forget_old_claims(game_server& server, std::string_view kept, wall_time forget_before) {
  std::vector<std::pair<wall_time, std::string>> confirmed;
  each_claim(server, [&](std::string_view key, std::string_view text) {
    if (key == kept) return;
    auto const one = read_claim(text);
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
  each_claim(server, [&](std::string_view key, std::string_view text) {
    auto const one = read_claim(text);
    if (!one || !one->expires || !confirmed_by_game(server, one->id)) return;
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

AGONES_ALLOC_DECL auto claim_annotation(std::string_view id) -> std::string { return detail::claim_key(id); }

AGONES_ALLOC_DECL void write_claim(game_server& desired, game_server const& base, claim_terms const& terms, wall_time now,
                                   wall_time forget_before) {
  auto const key = detail::claim_key(terms.id);
  // What was confirmed so far was said of the claims so far, and not of this one.
  detail::keep_confirmations(desired);
  desired.meta.annotations.erase(keys::sdk_confirmed);
  desired.meta.labels.erase(keys::sdk_confirmed);
  detail::forget_old_claims(desired, key, forget_before);
  detail::claim_writer head;
  head.add(detail::claim_field::id, {}, terms.id);
  head.add_plain(detail::claim_field::digest, detail::digits_of(terms.digest));
  head.add_plain(detail::claim_field::made, rfc3339_nano(now));
  if (terms.expires) head.add_plain(detail::claim_field::expires, rfc3339_nano(*terms.expires));
  if (base.status.state == game_server_state::ready) head.add_plain(detail::claim_field::fresh, "true");
  detail::claim_writer undo;
  detail::note_text_changes(undo, detail::claim_field::label, detail::claim_field::label_was, base.meta.labels, desired.meta.labels);
  detail::note_text_changes(undo, detail::claim_field::annotation, detail::claim_field::annotation_was, base.meta.annotations,
                            desired.meta.annotations);
  detail::note_counter_changes(undo, base, desired);
  detail::note_list_changes(undo, base, desired);
  if (undo.text().size() > detail::most_undo_bytes) {
    head.add_plain(detail::claim_field::lost, "true");
  } else {
    head.append(undo);
  }
  auto first = detail::first_expiry(desired, key);
  if (terms.expires && (!first || *terms.expires < *first)) first = terms.expires;
  desired.meta.annotations.set(key, head.text());
  detail::tell_first_expiry(desired, first);
}

AGONES_ALLOC_DECL auto find_claim(game_server const& server, std::string_view id) -> std::optional<claim_record> {
  auto const text = server.meta.annotations.find(detail::claim_key(id));
  if (!text) return std::nullopt;
  auto out = detail::read_claim(*text);
  if (!out || out->id != id) return std::nullopt;
  if (detail::confirmed_by_game(server, id)) out->expires = std::nullopt;
  return out;
}

AGONES_ALLOC_DECL auto claims_of(game_server const& server) -> std::vector<claim_record> {
  std::vector<claim_record> out;
  detail::each_claim(server, [&](std::string_view key, std::string_view text) {
    auto one = detail::read_claim(text);
    if (!one) return;
    auto const digits = detail::claim_digits(one->id);
    if (key.substr(keys::claim_prefix.size()) != std::string_view{digits.data(), digits.size()}) return;
    if (detail::confirmed_by_game(server, one->id)) one->expires = std::nullopt;
    out.push_back(*std::move(one));
  });
  return out;
}

AGONES_ALLOC_DECL auto has_claims(game_server const& server) noexcept -> bool {
  auto const at = server.meta.annotations.first_with(keys::claim_prefix);
  return at.has_value();
}

AGONES_ALLOC_DECL auto confirm_claim(game_server& server, std::string_view id) -> bool {
  auto const key = detail::claim_key(id);
  auto const text = server.meta.annotations.find(key);
  if (!text) return false;
  auto const known = detail::read_claim(*text);
  if (!known || known->id != id) return false;
  if (!known->expires) return true;
  auto kept = detail::claim_fields{*text};
  kept.erase(detail::claim_field::expires);
  server.meta.annotations.set(key, kept.text());
  detail::follow_claims(server);
  return true;
}

AGONES_ALLOC_DECL auto expire_claim_at(game_server& server, std::string_view id, wall_time when) -> bool {
  auto const key = detail::claim_key(id);
  auto const text = server.meta.annotations.find(key);
  if (!text) return false;
  auto const known = detail::read_claim(*text);
  if (!known || known->id != id) return false;
  auto kept = detail::claim_fields{*text};
  kept.erase(detail::claim_field::expires);
  detail::claim_writer added;
  added.add(detail::claim_field::expires, {}, rfc3339_nano(when));
  server.meta.annotations.set(key, kept.text() + "&" + added.text());
  detail::follow_claims(server);
  return true;
}

AGONES_ALLOC_DECL auto release_claim(game_server& server, std::string_view id, release_to to) -> std::optional<release_report> {
  auto const key = detail::claim_key(id);
  auto const text = server.meta.annotations.find(key);
  if (!text) return std::nullopt;
  auto const known = detail::read_claim(*text);
  if (!known || known->id != id) return std::nullopt;
  detail::claim_fields const fields{*text};
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
