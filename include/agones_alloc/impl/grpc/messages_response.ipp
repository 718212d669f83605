#pragma once

#include <agones_alloc/grpc/messages.hpp>
#include <agones_alloc/impl/grpc/messages_request.ipp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::message {

/// What an answer tells of a server, wherever it is kept.
struct allocated_parts {
  shared_string const& name;
  std::vector<game_server_port> const& ports;
  shared_string const& address;
  std::vector<node_address> const& addresses;
  shared_string const& node_name;
  std::string_view source;
  named_map<counter_status> const& counters;
  named_map<list_status> const& lists;
};

inline void write_allocated(allocated_parts const& from, ::allocation::AllocationResponse& out, feature_gates gates) {
  out.set_gameservername(from.name.str());
  for (auto const& port : from.ports) {
    auto& to = *out.add_ports();
    to.set_name(port.name.str());
    to.set_port(port.port);
  }
  out.set_address(from.address.str());
  for (auto const& address : from.addresses) {
    auto& to = *out.add_addresses();
    to.set_type(address.type.str());
    to.set_address(address.address.str());
  }
  out.set_nodename(from.node_name.str());
  out.set_source(std::string{from.source});
  if (!gates.counts_and_lists) return;
  for (auto const& [name, one] : from.counters) {
    auto& to = (*out.mutable_counters())[name.str()];
    to.mutable_count()->set_value(one.count);
    to.mutable_capacity()->set_value(one.capacity);
  }
  for (auto const& [name, one] : from.lists) {
    auto& to = (*out.mutable_lists())[name.str()];
    if (one.values) {
      for (auto const& value : *one.values) to.add_values(value.str());
    }
    to.mutable_capacity()->set_value(one.capacity);
  }
}

inline void write_labels(string_map const& labels, string_map const& annotations, ::allocation::AllocationResponse& out) {
  write_labels(labels, *out.mutable_metadata()->mutable_labels());
  write_labels(annotations, *out.mutable_metadata()->mutable_annotations());
}

}  // namespace detail::message

AGONES_ALLOC_DECL void allocation_to_message(game_server_allocation const& gsa, ::allocation::AllocationResponse& out,
                                             feature_gates gates) {
  out.Clear();
  auto const& status = gsa.status;
  if (status.state != "Allocated") return;
  detail::message::write_allocated({status.game_server_name, status.ports, status.address, status.addresses, status.node_name,
                                    status.source.view(), status.counters, status.lists},
                                   out, gates);
  if (status.metadata) detail::message::write_labels(status.metadata->labels, status.metadata->annotations, out);
}

AGONES_ALLOC_DECL void result_to_message(allocation_result const& result, ::allocation::AllocationResponse& out, feature_gates gates) {
  out.Clear();
  if (result.result != outcome::allocated || result.server == nullptr) return;
  auto const& server = *result.server;
  auto const& status = server.status;
  detail::message::write_allocated({server.meta.name, status.ports.get(), status.address, status.addresses.get(), status.node_name,
                                    result.source.empty() ? std::string_view{"local"} : result.source.view(), status.counters.get(),
                                    status.lists.get()},
                                   out, gates);
  detail::message::write_labels(server.meta.labels, server.meta.annotations, out);
}

AGONES_ALLOC_DECL auto message_to_allocation(::allocation::AllocationResponse const& from, std::string_view source,
                                             feature_gates gates) -> game_server_allocation {
  game_server_allocation out;
  out.kind = "GameServerAllocation";
  out.api_version = "allocation.agones.dev/v1";
  auto& status = out.status;
  status.state = "Allocated";
  status.game_server_name = from.gameservername();
  for (auto const& port : from.ports()) status.ports.push_back({shared_string{port.name()}, port.port()});
  status.address = from.address();
  for (auto const& address : from.addresses()) {
    status.addresses.push_back({shared_string{address.type()}, shared_string{address.address()}});
  }
  status.node_name = from.nodename();
  status.source = source;
  if (from.has_metadata()) {
    status.metadata = meta_patch{detail::message::labels_of(from.metadata().labels()),
                                 detail::message::labels_of(from.metadata().annotations())};
  }
  if (!gates.counts_and_lists) return out;
  for (auto const& [name, one] : from.counters()) {
    status.counters[shared_string{name}] = {one.count().value(), one.capacity().value()};
  }
  for (auto const& [name, one] : from.lists()) {
    auto& to = status.lists[shared_string{name}];
    to.capacity = one.capacity().value();
    to.values = detail::message::words_of(one.values());
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
