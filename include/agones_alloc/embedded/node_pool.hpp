// Simulated nodes: where servers are placed and which host ports they get.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/embedded/simulator_options.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A place on a node. `host_ports`: one for each port of the template that has one, in its order.
struct placement {
  std::uint32_t node{0};
  std::vector<std::int32_t> host_ports;
};

/// Pure bookkeeping. Placing costs O(log nodes) unless many nodes have room but not the ports asked for.
/// Thread safety: none.
class node_pool {
 public:
  /// `options` must be valid.
  AGONES_ALLOC_DECL explicit node_pool(simulator_options const& options);

  /// Packed: the fullest node that has room; distributed: the emptiest. A node is added when none has room. Dynamic and
  /// Passthrough ports come from the range, Static ports are the template's; a host port is given once on a node.
  /// Nothing when there is no room.
  AGONES_ALLOC_DECL auto place(std::vector<game_server_port_template> const& ports, bool packed)
      -> std::optional<placement>;
  /// Why `place` found no room just now, in words.
  AGONES_ALLOC_DECL auto why_full(std::vector<game_server_port_template> const& ports) const -> std::string;
  /// Gives a place back.
  AGONES_ALLOC_DECL void release(placement const& place);

  auto size() const noexcept -> std::size_t { return nodes_.size(); }
  auto used(std::uint32_t node) const -> std::uint32_t { return nodes_[node].used; }
  auto name(std::uint32_t node) const -> shared_string const& { return nodes_[node].name; }
  auto address(std::uint32_t node) const -> shared_string const& { return nodes_[node].addresses.front().address; }
  /// ExternalIP, InternalIP and Hostname.
  auto addresses(std::uint32_t node) const -> std::vector<node_address> const& { return nodes_[node].addresses; }

 private:
  struct node_state {
    shared_string name;
    std::vector<node_address> addresses;
    std::uint32_t used{0};
    std::uint32_t free_ports{0};
    std::uint32_t cursor{0};           ///< where the search for a free port goes on: freed ports rest for a while
    std::vector<std::uint64_t> taken;  ///< a bit per port of the range
    std::vector<std::int32_t> taken_outside;  ///< Static ports outside the range
  };

  AGONES_ALLOC_DECL void add_node();
  AGONES_ALLOC_DECL auto try_place(std::uint32_t node, std::vector<game_server_port_template> const& ports,
                                   std::size_t dynamic) -> std::optional<placement>;
  auto in_range(std::int32_t port) const noexcept -> bool { return port >= min_port_ && port <= max_port_; }
  AGONES_ALLOC_DECL auto is_taken(node_state const& n, std::int32_t port) const noexcept -> bool;
  AGONES_ALLOC_DECL void take(node_state& n, std::int32_t port);
  AGONES_ALLOC_DECL auto take_free(node_state& n) -> std::int32_t;

  std::string prefix_;
  std::uint32_t first_address_;
  bool same_address_;
  std::uint32_t capacity_;
  std::uint32_t max_nodes_;
  std::int32_t min_port_;
  std::int32_t max_port_;
  std::vector<node_state> nodes_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> open_;  ///< nodes with room: servers on it, number
};

/// True for a port that needs a host port: all but policy None.
inline auto has_host_port(game_server_port_template const& port) noexcept -> bool { return port.port_policy != "None"; }

/// A server's status.ports: TCPUDP is two entries (`-tcp`, `-udp`) on one host port; policy None shows the container's
/// port.
AGONES_ALLOC_DECL auto status_ports(std::vector<game_server_port_template> const& ports,
                                    std::vector<std::int32_t> const& host_ports) -> std::vector<game_server_port>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/embedded/node_pool.ipp>
#endif
