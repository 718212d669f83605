// What an allocator over several clusters can be told: once at construction, and per request.
#pragma once

#include <agones_alloc/async/allocator_options.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/cluster_fsm.hpp>
#include <agones_alloc/flow/cluster_memory.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/metrics.hpp>
#include <agones_alloc/select/request.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct multi_cluster_options {
  cluster_limits limits{};
  cluster_memory_options memory{};
  std::chrono::nanoseconds timeout{std::chrono::seconds{30}};       ///< of a request that brings none; positive
  std::chrono::nanoseconds call_timeout{std::chrono::seconds{10}};  ///< the most one remote call takes (spec 8.5); positive
  std::chrono::nanoseconds probe_timeout{std::chrono::seconds{5}};  ///< the same of a probe of a dead endpoint; positive
  /// Dead endpoints are also probed while no request is under way, so that the first after a pause finds those that are back.
  /// The executor then has something to wait for as long as one is dead. Without it such a request may have to find out.
  bool probe_idle{false};
  /// The executor is a strand, or the loop of one thread: nothing runs at the same time on it, and no strand is laid over it, which saves
  /// an eighth of a remote call's processor time here. The same in rest_remote_options.
  bool serial_executor{false};
  std::size_t max_operations{65536};  ///< requests at once; one more ends as `contention` at once
};

/// Throws std::invalid_argument naming the option that is out of range.
AGONES_ALLOC_DECL void check(multi_cluster_options const&);

struct multi_cluster_ports {
  metrics* counts{nullptr};
  logger* log{nullptr};
};

/// One request. By its policySelector and namespace policies are chosen, whether or not `multiClusterSetting.enabled`.
struct multi_cluster_request {
  request_ptr request;
  /// `wait_for`: when no cluster has a server, waits here, in the queue of this cluster's allocator if it is one of them, and
  /// asks the others again every cluster_limits::wait_slice. Remotes are not told to wait.
  allocate_options options{};
  std::string request_id{};  ///< carried to remotes; "": one is made up
  std::uint32_t hops{0};     ///< how often it was forwarded before it came here
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/multi_cluster_options.ipp>
#endif
