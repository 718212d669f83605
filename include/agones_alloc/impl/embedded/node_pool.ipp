#pragma once

#include <agones_alloc/embedded/ipv4.hpp>
#include <agones_alloc/embedded/node_pool.hpp>

#include <algorithm>
#include <iterator>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL node_pool::node_pool(simulator_options const& options)
    : prefix_{options.node_prefix},
      first_address_{parse_ipv4(options.first_address).value_or(0)},
      same_address_{options.same_address},
      capacity_{options.node_capacity},
      max_nodes_{options.max_nodes},
      min_port_{options.min_port},
      max_port_{options.max_port} {
  for (std::uint32_t i = 0; i < options.node_count; ++i) add_node();
}

AGONES_ALLOC_DECL void node_pool::add_node() {
  auto const number = static_cast<std::uint32_t>(nodes_.size());
  node_state n;
  n.name = prefix_ + std::to_string(number + 1);
  auto const address = shared_string{ipv4_text(same_address_ ? first_address_ : first_address_ + number)};
  n.addresses = {{"ExternalIP", address}, {"InternalIP", address}, {"Hostname", n.name}};
  n.free_ports = static_cast<std::uint32_t>(max_port_ - min_port_ + 1);
  n.taken.resize((n.free_ports + 63) / 64);
  nodes_.push_back(std::move(n));
  open_.emplace(0, number);
}

AGONES_ALLOC_DECL auto node_pool::is_taken(node_state const& n, std::int32_t port) const noexcept -> bool {
  if (!in_range(port)) return std::find(n.taken_outside.begin(), n.taken_outside.end(), port) != n.taken_outside.end();
  auto const bit = static_cast<std::uint32_t>(port - min_port_);
  return (n.taken[bit / 64] >> (bit % 64) & 1U) != 0;
}

AGONES_ALLOC_DECL void node_pool::take(node_state& n, std::int32_t port) {
  if (!in_range(port)) {
    n.taken_outside.push_back(port);
    return;
  }
  auto const bit = static_cast<std::uint32_t>(port - min_port_);
  n.taken[bit / 64] |= std::uint64_t{1} << (bit % 64);
  --n.free_ports;
}

/// There must be a free one.
AGONES_ALLOC_DECL auto node_pool::take_free(node_state& n) -> std::int32_t {
  auto const count = static_cast<std::uint32_t>(max_port_ - min_port_ + 1);
  while (is_taken(n, min_port_ + static_cast<std::int32_t>(n.cursor))) n.cursor = (n.cursor + 1) % count;
  auto const port = min_port_ + static_cast<std::int32_t>(n.cursor);
  n.cursor = (n.cursor + 1) % count;
  take(n, port);
  return port;
}

AGONES_ALLOC_DECL auto node_pool::try_place(std::uint32_t number, std::vector<game_server_port_template> const& ports,
                                            std::size_t dynamic) -> std::optional<placement> {
  auto& n = nodes_[number];
  std::size_t static_in_range = 0;
  for (auto const& port : ports) {
    if (port.port_policy != "Static") continue;
    if (is_taken(n, port.host_port)) return std::nullopt;
    if (in_range(port.host_port)) ++static_in_range;
  }
  if (n.free_ports < dynamic + static_in_range) return std::nullopt;
  placement place{number, {}};
  // The fixed ones first, so that a dynamic one does not take their number.
  for (auto const& port : ports) {
    if (port.port_policy == "Static" && !is_taken(n, port.host_port)) take(n, port.host_port);
  }
  for (auto const& port : ports) {
    if (has_host_port(port)) place.host_ports.push_back(port.port_policy == "Static" ? port.host_port : take_free(n));
  }
  open_.erase({n.used, number});
  if (++n.used < capacity_) open_.emplace(n.used, number);
  return place;
}

AGONES_ALLOC_DECL auto node_pool::place(std::vector<game_server_port_template> const& ports, bool packed)
    -> std::optional<placement> {
  auto const dynamic = static_cast<std::size_t>(std::count_if(ports.begin(), ports.end(), [](auto const& port) {
    return has_host_port(port) && port.port_policy != "Static";
  }));
  // A node that is tried and fits leaves or re-enters the set: the loops end there.
  if (packed) {
    // From the fullest level down; within a level in the order of the nodes.
    for (auto end = open_.end(); end != open_.begin();) {
      auto const level = open_.lower_bound({std::prev(end)->first, 0});
      for (auto at = level; at != end; ++at) {
        if (auto place = try_place(at->second, ports, dynamic)) return place;
      }
      end = level;
    }
  } else {
    for (auto at = open_.begin(); at != open_.end(); ++at) {
      if (auto place = try_place(at->second, ports, dynamic)) return place;
    }
  }
  // An empty node that does not fit says that none ever will.
  auto const empty_misfit = !open_.empty() && open_.begin()->first == 0;
  if (nodes_.size() >= max_nodes_ || empty_misfit) return std::nullopt;
  add_node();
  return try_place(static_cast<std::uint32_t>(nodes_.size() - 1), ports, dynamic);
}

AGONES_ALLOC_DECL auto node_pool::why_full(std::vector<game_server_port_template> const& ports) const -> std::string {
  std::uint32_t of_range = 0;
  for (auto const& port : ports) {
    if (port.port_policy == "Static" ? in_range(port.host_port) : has_host_port(port)) ++of_range;
  }
  auto const size = static_cast<std::uint32_t>(max_port_ - min_port_ + 1);
  auto const range = std::to_string(min_port_) + "-" + std::to_string(max_port_);
  if (of_range > size) {
    return "a server needs " + std::to_string(of_range) + " host ports of " + range + ", a node has " + std::to_string(size);
  }
  auto const nodes = std::to_string(nodes_.size()) + (nodes_.size() == 1 ? " node" : " nodes");
  auto const bound = nodes + (nodes_.size() < max_nodes_ ? "" : ", and there may be no more");
  if (open_.empty()) return "every node is full (capacity " + std::to_string(capacity_) + "): " + bound;
  for (auto const& port : ports) {
    auto const taken = [&](auto const& open) { return is_taken(nodes_[open.second], port.host_port); };
    if (port.port_policy == "Static" && std::all_of(open_.begin(), open_.end(), taken)) {
      return "host port " + std::to_string(port.host_port) + " is taken on every node that has room: " + bound;
    }
  }
  return "no node that has room has the " + std::to_string(of_range) + " host ports of " + range + " that a server needs: " + bound;
}

AGONES_ALLOC_DECL void node_pool::release(placement const& place) {
  auto& n = nodes_[place.node];
  for (auto const port : place.host_ports) {
    if (!in_range(port)) {
      std::erase(n.taken_outside, port);
      continue;
    }
    auto const bit = static_cast<std::uint32_t>(port - min_port_);
    auto const mask = std::uint64_t{1} << (bit % 64);
    if ((n.taken[bit / 64] & mask) == 0) continue;  // a template that names one port twice
    n.taken[bit / 64] &= ~mask;
    ++n.free_ports;
  }
  open_.erase({n.used, place.node});
  --n.used;
  open_.emplace(n.used, place.node);
}

AGONES_ALLOC_DECL auto status_ports(std::vector<game_server_port_template> const& ports,
                                    std::vector<std::int32_t> const& host_ports) -> std::vector<game_server_port> {
  std::vector<game_server_port> out;
  std::size_t next = 0;
  for (auto const& port : ports) {
    auto const number = has_host_port(port) && next < host_ports.size() ? host_ports[next++] : port.container_port;
    if (port.protocol == "TCPUDP") {
      out.push_back({port.name.str() + "-tcp", number});
      out.push_back({port.name.str() + "-udp", number});
    } else {
      out.push_back({port.name, number});
    }
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
