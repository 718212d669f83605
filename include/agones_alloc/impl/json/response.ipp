#pragma once

#include <agones_alloc/json/detail/write_allocation.hpp>
#include <agones_alloc/json/response.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline auto source_of(allocation_result const& result) noexcept -> std::string_view {
  return result.source.empty() ? std::string_view{"local"} : std::string_view{result.source};
}

inline void write_server_status(writer& to, game_server const& server, std::string_view source, feature_gates gates) {
  auto const& status = server.status;
  to.open('{');
  to.key("state");
  to.text("Allocated");
  write_member(to, "gameServerName", server.meta.name);
  write_non_empty(to, "ports", status.ports);
  write_non_empty(to, "address", status.address);
  write_non_empty(to, "addresses", status.addresses);
  write_non_empty(to, "nodeName", status.node_name);
  to.key("source");
  to.text(source);
  to.key("metadata");
  write_labels(to, server.meta.labels, server.meta.annotations);
  if (gates.counts_and_lists) {
    write_non_empty(to, "counters", status.counters);
    write_non_empty(to, "lists", status.lists);
  }
  to.close('}');
}

inline auto has_server(allocation_result const& result) noexcept -> bool {
  return result.result == outcome::allocated && result.server != nullptr;
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto state_word(outcome value) noexcept -> std::string_view {
  switch (value) {
    case outcome::allocated: return "Allocated";
    case outcome::exhausted: return "UnAllocated";
    case outcome::contention: return "Contention";
    case outcome::invalid:
    case outcome::refused:
    case outcome::unavailable:
    case outcome::unknown:
    case outcome::cancelled:
    case outcome::deadline: break;
  }
  return "";
}

AGONES_ALLOC_DECL auto allocation_response(game_server_allocation const& request, allocation_result const& result,
                                           feature_gates gates) -> game_server_allocation {
  game_server_allocation out = request;
  out.kind = "GameServerAllocation";
  out.api_version = "allocation.agones.dev/v1";
  out.status = {};
  out.status.state = state_word(result.result);
  if (!detail::wire::has_server(result)) return out;
  auto const& server = *result.server;
  out.meta.name = server.meta.name;
  out.status.game_server_name = server.meta.name;
  out.status.ports = server.status.ports.get();
  out.status.address = server.status.address;
  out.status.addresses = server.status.addresses.get();
  out.status.node_name = server.status.node_name;
  out.status.source = detail::wire::source_of(result);
  out.status.metadata = meta_patch{server.meta.labels, server.meta.annotations};
  if (gates.counts_and_lists) {
    out.status.counters = server.status.counters.get();
    out.status.lists = server.status.lists.get();
  }
  return out;
}

AGONES_ALLOC_DECL void append_allocation_response(std::string& out, game_server_allocation const& request,
                                                  allocation_result const& result, feature_gates gates) {
  bool const allocated = detail::wire::has_server(result);
  detail::wire::writer to{out};
  detail::wire::open_object(to, "GameServerAllocation", "allocation.agones.dev/v1", request.meta,
                            allocated ? result.server->meta.name : request.meta.name);
  detail::wire::write_member(to, "spec", request.spec);
  to.key("status");
  if (allocated) {
    detail::wire::write_server_status(to, *result.server, detail::wire::source_of(result), gates);
  } else {
    to.open('{');
    to.key("state");
    to.text(state_word(result.result));
    to.key("gameServerName");
    to.text("");
    to.key("source");
    to.text("");
    to.close('}');
  }
  to.close('}');
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
