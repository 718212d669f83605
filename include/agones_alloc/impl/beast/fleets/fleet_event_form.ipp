#pragma once

#include <agones_alloc/beast/fleets/fleet_event_form.hpp>

#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto event_word(fleet_event_kind what) noexcept -> std::string_view {
  switch (what) {
    case fleet_event_kind::reset: return "RESET";
    case fleet_event_kind::snapshot_item: return "SNAPSHOT_ITEM";
    case fleet_event_kind::synced: return "SYNCED";
    case fleet_event_kind::added: return "ADDED";
    case fleet_event_kind::modified: return "MODIFIED";
    case fleet_event_kind::deleted: return "DELETED";
    case fleet_event_kind::cluster_status: return "CLUSTER_STATUS";
    case fleet_event_kind::cluster_gone: return "CLUSTER_GONE";
  }
  return {};
}

}  // namespace detail

AGONES_ALLOC_DECL auto server_sent_form::beginning() -> std::string { return "retry: 1000\n\n"; }

AGONES_ALLOC_DECL void server_sent_form::append(std::string& out, fleet_event const& event, std::string const& token,
                                                fleet_info_parts parts) {
  if (!token.empty()) out.append("id: ").append(token).append("\n");
  out.append("event: ").append(detail::event_word(event.what)).append("\ndata: {");
  if (event.fleet != nullptr) {
    out += "\"fleet\":";
    if (event.what == fleet_event_kind::deleted) {
      append_key_json(out, *event.fleet);
    } else {
      out += texts_.of(event.fleet, parts);
    }
  } else if (event.cluster != nullptr) {
    out += "\"cluster\":";
    append_json(out, *event.cluster);
  } else if (event.what == fleet_event_kind::synced) {
    out.append("\"token\":\"").append(token).append("\"");
  } else {
    out += "\"reason\":\"what has changed since is not known any more\"";
  }
  out += "}\n\n";
}

AGONES_ALLOC_DECL void server_sent_form::append_heartbeat(std::string& out, timer::wall_time now) {
  out.append("event: HEARTBEAT\ndata: {\"time\":\"").append(format_wall_time(now)).append("\"}\n\n");
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
