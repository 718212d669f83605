#pragma once

#include <agones_alloc/flow/pending.hpp>
#include <agones_alloc/select/apply.hpp>
#include <agones_alloc/select/detail/claim_text.hpp>
#include <agones_alloc/select/detail/time_text.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Fields of the marker's text.
namespace pending_field {
inline constexpr std::string_view id = "id";
inline constexpr std::string_view since = "since";
inline constexpr std::string_view deadline = "deadline";
inline constexpr std::string_view owner = "owner";
inline constexpr std::string_view token = "token";
inline constexpr std::string_view claim_ttl = "claim-ttl";  ///< nanoseconds
inline constexpr std::string_view gate = "gate";
inline constexpr std::string_view older = "older.";
}  // namespace pending_field

inline auto state_of(gate_carrier carrier) noexcept -> game_server_state {
  switch (carrier) {
    case gate_carrier::reserved: return game_server_state::reserved;
    case gate_carrier::allocated: return game_server_state::allocated;
    case gate_carrier::allocating: return game_server_state::allocating;
  }
  return game_server_state::reserved;
}

/// What the game answers by, as a label or as an annotation.
inline void take_answer_away(game_server& server, gate_settings const& gate) {
  if (gate.source != gate_source::watch) return;
  server.meta.annotations.erase(gate.key);
  server.meta.labels.erase(gate.key);
}

inline void clear_pending(game_server& server, gate_settings const& gate) {
  server.meta.annotations.erase(keys::pending_annotation);
  server.meta.annotations.erase(keys::pending_id_annotation);
  server.meta.annotations.erase(keys::gate_token_annotation);
  server.meta.labels.erase(keys::allocating_label);
  server.status.reserved_until = unset_time;
  take_answer_away(server, gate);
}

/// "true", or the id: which cannot be the answer to an earlier allocation.
inline auto answer_of(game_server const& server, pending_marker const& marker) noexcept -> pending_reading {
  for (auto const* map : {&server.meta.annotations, &server.meta.labels}) {
    auto const said = map->value_or_empty(marker.gate.key);
    if (said == "true" || (!said.empty() && said == marker.id)) return pending_reading::ready;
    if (said == "failed") return pending_reading::failed;
  }
  return pending_reading::pending;
}

}  // namespace detail

AGONES_ALLOC_DECL void begin_pending(game_server& desired, pending_marker const& marker) {
  namespace field = detail::pending_field;
  detail::clear_pending(desired, marker.gate);
  detail::claim_writer text;
  text.add(field::id, {}, marker.id);
  text.add(field::since, {}, rfc3339_nano(marker.since));
  text.add(field::deadline, {}, rfc3339_nano(marker.deadline));
  text.add(field::owner, {}, marker.owner);
  if (!marker.token.empty()) text.add(field::token, {}, marker.token);
  if (marker.claim_ttl) text.add(field::claim_ttl, {}, std::to_string(marker.claim_ttl->count()));
  text.add(field::gate, {}, to_text(marker.gate));
  for (auto const& id : marker.older) text.add(field::older, id, {});
  desired.meta.annotations.set(keys::pending_annotation, text.text());
  desired.meta.annotations.set(keys::pending_id_annotation, marker.id);
  if (!marker.token.empty()) desired.meta.annotations.set(keys::gate_token_annotation, marker.token);
  desired.status.state = detail::state_of(marker.gate.carrier);
  switch (marker.gate.carrier) {
    case gate_carrier::reserved:
      desired.status.reserved_until = std::chrono::ceil<std::chrono::seconds>(marker.deadline) + sidecar_patience;
      break;
    case gate_carrier::allocated: desired.meta.labels.set(keys::allocating_label, "true"); break;
    case gate_carrier::allocating: break;
  }
}

AGONES_ALLOC_DECL auto find_pending(game_server const& server) -> std::optional<pending_marker> {
  namespace field = detail::pending_field;
  auto const text = server.meta.annotations.find(keys::pending_annotation);
  if (!text) return std::nullopt;
  detail::claim_fields const fields{*text};
  auto const value = [&fields](std::string_view name) { return fields.value(name).value_or(std::string{}); };
  auto const since = detail::parse_rfc3339_nano(value(field::since));
  auto const deadline = detail::parse_rfc3339_nano(value(field::deadline));
  pending_marker out;
  out.id = value(field::id);
  if (!request_id_problem(out.id).empty() || !since || !deadline) return std::nullopt;
  out.since = *since;
  out.deadline = *deadline;
  out.owner = value(field::owner);
  out.token = value(field::token);
  if (auto const ttl = fields.value(field::claim_ttl)) {
    auto const count = detail::parse_number(*ttl);
    if (!count || *count <= 0) return std::nullopt;
    out.claim_ttl = std::chrono::nanoseconds{*count};
  }
  fields.each(field::older, [&out](std::string const& id, std::string const&) { out.older.push_back(id); });
  field_errors errors;
  change_gate(out.gate, value(field::gate), "gate", errors);
  // Of a later version, perhaps: what it says about the source may be what we do not know.
  if (!errors.empty() || !out.gate.enabled) return std::nullopt;
  return out;
}

AGONES_ALLOC_DECL auto read_pending(game_server const& now, pending_marker const& marker) noexcept -> pending_reading {
  if (is_being_deleted(now) || !has_pending(now)) return pending_reading::over;
  if (now.meta.annotations.value_or_empty(keys::pending_id_annotation) != marker.id) return pending_reading::over;
  auto const state = now.status.state;
  if (state == game_server_state::ready) return pending_reading::returned;
  bool const labelled = marker.gate.carrier == gate_carrier::allocated;
  if (state == game_server_state::allocated) {
    if (!labelled || !now.meta.labels.find(keys::allocating_label)) return pending_reading::allocated;
  } else if (state != detail::state_of(marker.gate.carrier)) {
    return pending_reading::over;
  }
  switch (marker.gate.source) {
    case gate_source::watch: return detail::answer_of(now, marker);
    case gate_source::counter: {
      auto const counter = now.status.counters.find(marker.gate.key);
      bool const there = counter != now.status.counters.end() && counter->second.count >= marker.gate.at_least;
      return there ? pending_reading::ready : pending_reading::pending;
    }
    case gate_source::http:
    case gate_source::tcp:
    case gate_source::webhook:
    case gate_source::sse:
    case gate_source::grpc: break;
  }
  return pending_reading::pending;
}

AGONES_ALLOC_DECL void pass_pending(game_server& server, pending_marker const& marker, wall_time now) {
  detail::clear_pending(server, marker.gate);
  server.status.state = game_server_state::allocated;
  server.meta.annotations.set(keys::last_allocated_annotation, rfc3339_nano(now));
  if (marker.claim_ttl) expire_claim_at(server, marker.id, now + *marker.claim_ttl);
}

AGONES_ALLOC_DECL auto fail_pending(game_server& server, pending_marker const& marker, gate_policy policy) -> release_report {
  release_report report;
  detail::clear_pending(server, marker.gate);
  switch (policy) {
    case gate_policy::shutdown: server.status.state = game_server_state::shutdown; break;
    case gate_policy::mark_unhealthy: server.status.state = game_server_state::unhealthy; break;
    case gate_policy::return_to_ready:
      // With those that came to it while it was pending, by whatever clock they were made.
      for (auto const& claim : claims_of(server)) {
        if (std::find(marker.older.begin(), marker.older.end(), claim.id) != marker.older.end()) continue;
        auto lines = release_claim(server, claim.id, release_to::ready).value_or(release_report{});
        std::move(lines.begin(), lines.end(), std::back_inserter(report));
      }
      server.meta.annotations.erase(keys::last_allocated_annotation);
      server.status.state = game_server_state::ready;
      break;
  }
  return report;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
