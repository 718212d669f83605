#pragma once

#include <agones_alloc/grpc/messages.hpp>
#include <agones_alloc/impl/grpc/message_writer.hpp>
#include <agones_alloc/impl/grpc/messages_request.ipp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::message {

inline void write_allocated(allocation_status const& from, ::allocation::AllocationResponse& out, feature_gates gates) {
  out.set_gameservername(from.game_server_name.str());
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
  out.set_source(from.source.str());
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

/// An entry for each, of the map that is `field`.
inline void write_labels(string_map const& from, std::uint32_t field, message_writer& out) {
  for (auto const label : from) {
    out.part(field, [&out, &label] {
      out.item(1, label.first);
      out.item(2, label.second);
    });
  }
}

/// A google.protobuf.Int64Value.
inline void write_count(std::int64_t value, std::uint32_t field, message_writer& out) {
  out.part(field, [&out, value] { out.number(1, value); });
}

inline void write_counts(named_map<counter_status> const& counters, named_map<list_status> const& lists, message_writer& out) {
  for (auto const& entry : counters) {
    out.part(9, [&out, &entry] {
      out.item(1, entry.first.view());
      out.part(2, [&out, &one = entry.second] {
        write_count(one.count, 1, out);
        write_count(one.capacity, 2, out);
      });
    });
  }
  for (auto const& entry : lists) {
    out.part(10, [&out, &entry] {
      out.item(1, entry.first.view());
      out.part(2, [&out, &one = entry.second] {
        if (one.values) {
          for (auto const& value : *one.values) out.item(1, value.view());
        }
        write_count(one.capacity, 2, out);
      });
    });
  }
}

}  // namespace detail::message

AGONES_ALLOC_DECL void allocation_to_message(game_server_allocation const& gsa, ::allocation::AllocationResponse& out,
                                             feature_gates gates) {
  out.Clear();
  auto const& status = gsa.status;
  if (status.state != "Allocated") return;
  detail::message::write_allocated(status, out, gates);
  if (!status.metadata) return;
  detail::message::write_labels(status.metadata->labels, *out.mutable_metadata()->mutable_labels());
  detail::message::write_labels(status.metadata->annotations, *out.mutable_metadata()->mutable_annotations());
}

AGONES_ALLOC_DECL auto result_to_message(allocation_result const& result, feature_gates gates) -> std::string {
  if (result.result != outcome::allocated || result.server == nullptr) return {};
  auto const& server = *result.server;
  auto const& status = server.status;
  detail::message_writer out{512};  // enough for most
  out.text(2, server.meta.name.view());
  for (auto const& port : status.ports.get()) {
    out.part(3, [&] {
      out.text(1, port.name.view());
      out.number(2, port.port);
    });
  }
  out.text(4, status.address.view());
  out.text(5, status.node_name.view());
  out.text(6, result.source.empty() ? std::string_view{"local"} : result.source.view());
  out.part(7, [&] {
    detail::message::write_labels(server.meta.labels, 1, out);
    detail::message::write_labels(server.meta.annotations, 2, out);
  });
  for (auto const& address : status.addresses.get()) {
    out.part(8, [&] {
      out.text(1, address.type.view());
      out.text(2, address.address.view());
    });
  }
  if (gates.counts_and_lists) detail::message::write_counts(status.counters.get(), status.lists.get(), out);
  return out.take();
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
