#pragma once

#include <agones_alloc/json/detail/read_selector.hpp>
#include <agones_alloc/json/detail/read_status.hpp>
#include <agones_alloc/json/detail/write_rest.hpp>
#include <agones_alloc/json/rest.hpp>

#include <cstddef>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void write_rest_response(writer& to, allocation_status const& status, feature_gates gates) {
  to.open('{');
  write_member(to, "gameServerName", status.game_server_name);
  rest_array(to, "ports", status.ports, [&to](game_server_port const& port) {
    to.open('{');
    write_member(to, "name", port.name);
    write_member(to, "port", port.port);
    to.close('}');
  });
  write_member(to, "address", status.address);
  rest_array(to, "addresses", status.addresses, [&to](node_address const& address) {
    to.open('{');
    write_member(to, "type", address.type);
    write_member(to, "address", address.address);
    to.close('}');
  });
  write_member(to, "nodeName", status.node_name);
  write_member(to, "source", status.source);
  if (status.metadata) rest_labels(to, "metadata", *status.metadata);
  static named_map<counter_status> const no_counters;
  static named_map<list_status> const no_lists;
  rest_map(to, "counters", gates.counts_and_lists ? status.counters : no_counters,
           [&to](counter_status const& counter) {
             to.open('{');
             rest_number(to, "count", counter.count);
             rest_number(to, "capacity", counter.capacity);
             to.close('}');
           });
  rest_map(to, "lists", gates.counts_and_lists ? status.lists : no_lists, [&to](list_status const& list) {
    to.open('{');
    rest_array(to, "values", list.values ? *list.values : std::vector<shared_string>{},
               [&to](shared_string const& value) { to.text(value); });
    rest_number(to, "capacity", list.capacity);
    to.close('}');
  });
  to.close('}');
}

inline void read_rest_response(reader& in, place const& at, boost::json::value const& value, allocation_status& out) {
  // The remote's own word for where it came from is dropped: the caller knows the endpoint.
  read_members(in, at, value, field{"gameServerName", out.game_server_name}, field{"ports", out.ports},
               field{"address", out.address}, field{"addresses", out.addresses}, field{"nodeName", out.node_name},
               skip("source"), field{"metadata", out.metadata}, field{"counters", out.counters},
               field{"lists", out.lists});
}

}  // namespace detail::wire

AGONES_ALLOC_DECL void append_rest_response(std::string& out, game_server_allocation const& gsa, feature_gates gates) {
  detail::wire::writer to{out};
  static allocation_status const none;
  detail::wire::write_rest_response(to, gsa.status.state == "Allocated" ? gsa.status : none, gates);
}

AGONES_ALLOC_DECL auto allocation_to_rest_response(game_server_allocation const& gsa, feature_gates gates)
    -> std::string {
  // Most answers fit: a block that grows past a kilobyte is out of reach of the C library's quick way.
  constexpr std::size_t usual_size = 1000;
  std::string out;
  out.reserve(usual_size);
  append_rest_response(out, gsa, gates);
  return out;
}

AGONES_ALLOC_DECL auto rest_response_to_allocation(boost::json::value const& value, std::string_view source,
                                                   feature_gates gates, json_read_options const& options)
    -> decoded<game_server_allocation> {
  return detail::wire::run_reader<game_server_allocation>(
      options,
      [&](detail::wire::reader& in, detail::wire::place const& at, game_server_allocation& out) {
        detail::wire::read_rest_response(in, at, value, out.status);
        out.kind = "GameServerAllocation";
        out.api_version = "allocation.agones.dev/v1";
        out.status.state = "Allocated";
        out.status.source = source;
        if (gates.counts_and_lists) return;
        out.status.counters.clear();
        out.status.lists.clear();
      },
      detail::wire::dialect::proto);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
