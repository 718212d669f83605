// Port: what an allocator counts (spec 10.1 has the reference's names).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// One finished allocation.
struct allocation_sample {
  outcome result{outcome::allocated};
  std::string_view fleet;       ///< label agones.dev/fleet of the server, "" when none
  std::string_view cluster;     ///< "" for the local one
  std::string_view scheduling;  ///< Packed, Distributed
  bool multi_cluster{false};
  std::uint32_t tries{0};
  std::chrono::nanoseconds took{0};
};

/// One finished call to another cluster. The names come from policies, not from clients.
struct cluster_call_sample {
  std::string_view cluster;
  std::string_view endpoint;
  outcome result{outcome::allocated};
  std::chrono::nanoseconds took{0};
};

/// One pending server that is so no more.
struct gate_sample {
  std::string_view end;    ///< ready, timed_out, failed, abandoned, gone
  std::string_view fleet;  ///< as above
  std::chrono::nanoseconds took{0};  ///< since it was pending
};

/// How large the ranked index is.
struct index_sample {
  std::size_t views{0};       ///< live request shapes
  std::size_t entries{0};     ///< servers that can be chosen, over all views
  std::size_t label_sets{0};  ///< distinct pairs of namespace and labels
  std::size_t nodes{0};
};

/// Called on the allocator's executor; must not block and must not throw. Every function has an
/// empty default, so that an adapter overrides what it exports.
class metrics {
 public:
  virtual ~metrics() = default;
  virtual void allocation(allocation_sample const&) {}
  virtual void update_conflict() {}
  virtual void claim_lost() {}  ///< a candidate had changed between choice and claim; told with index_size()
  virtual void claim_expired() {}  ///< nobody had confirmed it; its server was released
  virtual void in_flight(std::size_t) {}
  /// While there is something to do, about once a second.
  virtual void index_size(index_sample const&) {}
  /// Calls that wait for a server, and since when the first of them does; time_point::max() when none does.
  virtual void waiting(std::size_t, std::chrono::steady_clock::time_point) {}
  virtual void cluster_call(cluster_call_sample const&) {}
  /// An endpoint does not answer and is left alone, or answers again.
  virtual void cluster_breaker(std::string_view /*cluster*/, std::string_view /*endpoint*/, bool /*open*/) {}
  /// Servers that are pending at a readiness gate, as this replica knows.
  virtual void gate_pending(std::size_t) {}
  virtual void gate_ended(gate_sample const&) {}  ///< by this replica's write, or as it saw
  /// Credentials for other clusters were read: with success, or the last good ones stay in use.
  virtual void credentials_read(std::string_view /*name*/, bool /*good*/) {}
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
