#pragma once

#include <agones_alloc/grpc/messages.hpp>
#include <agones_alloc/impl/grpc/messages_request.ipp>

#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL void allocation_to_message(game_server_allocation const& gsa, ::allocation::AllocationResponse& out,
                                             feature_gates gates) {
  out.Clear();
  auto const& status = gsa.status;
  if (status.state != "Allocated") return;
  out.set_gameservername(status.game_server_name.str());
  for (auto const& port : status.ports) {
    auto& to = *out.add_ports();
    to.set_name(port.name.str());
    to.set_port(port.port);
  }
  out.set_address(status.address.str());
  for (auto const& address : status.addresses) {
    auto& to = *out.add_addresses();
    to.set_type(address.type.str());
    to.set_address(address.address.str());
  }
  out.set_nodename(status.node_name.str());
  out.set_source(status.source.str());
  if (status.metadata) {
    detail::message::write_labels(status.metadata->labels, *out.mutable_metadata()->mutable_labels());
    detail::message::write_labels(status.metadata->annotations, *out.mutable_metadata()->mutable_annotations());
  }
  if (!gates.counts_and_lists) return;
  for (auto const& [name, one] : status.counters) {
    auto& to = (*out.mutable_counters())[name.str()];
    to.mutable_count()->set_value(one.count);
    to.mutable_capacity()->set_value(one.capacity);
  }
  for (auto const& [name, one] : status.lists) {
    auto& to = (*out.mutable_lists())[name.str()];
    if (one.values) {
      for (auto const& value : *one.values) to.add_values(value.str());
    }
    to.mutable_capacity()->set_value(one.capacity);
  }
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
