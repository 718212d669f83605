// What earlier requests have learnt about clusters: who does not answer, and who had nothing left.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/breaker.hpp>
#include <agones_alloc/flow/detail/recent_table.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct cluster_memory_options {
  breaker_options breaker{};
  /// So long a cluster that had nothing for a kind of request is asked after all others; 0: never.
  std::chrono::nanoseconds exhausted_for{std::chrono::milliseconds{500}};
  std::size_t most_endpoints{1024};  ///< remembered; the one unused for longest is forgotten first
  std::size_t most_shapes{4096};     ///< the same, of clusters and kinds of requests
  /// So much later than it is due a call finds out whether a dead endpoint is back, unless `begin_probe` came first.
  /// max(): no call does.
  std::chrono::nanoseconds calls_probe_after{0};
};

/// Throws std::invalid_argument naming the option that is out of range.
AGONES_ALLOC_DECL void check(cluster_memory_options const&);

/// What is known of one endpoint, for people to look at.
struct endpoint_state {
  std::string cluster;   ///< identity, as connection_iterator has it
  std::string endpoint;  ///< as the policy has it
  breaker_state breaker{breaker_state::closed};
  std::uint32_t failures{0};           ///< in a row
  std::uint64_t calls{0};              ///< that have ended
  outcome last{outcome::unavailable};  ///< of the last call
  std::string message;                 ///< of the last call
  std::chrono::nanoseconds took{0};    ///< the last call
  std::chrono::nanoseconds open_for{0};  ///< from now, while open
};

/// A value without locks; time and draws are passed in.
class cluster_memory {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Throws as `check` does.
  AGONES_ALLOC_DECL explicit cluster_memory(cluster_memory_options = {});

  AGONES_ALLOC_DECL auto ask(std::string_view cluster, std::string_view endpoint, time_point now)
      -> breaker::admission;
  struct ended_call {
    breaker::admission told{breaker::admission::yes};
    outcome result{outcome::unavailable};
    std::string_view message;
    std::chrono::nanoseconds took{0};
  };
  /// `unavailable`, `unknown` and `deadline` are failures of the endpoint, `cancelled` says nothing, all else is an answer.
  AGONES_ALLOC_DECL void ended(std::string_view cluster, std::string_view endpoint, ended_call const&, time_point now,
                               double draw);

  /// When the endpoint is to be probed; nullopt: its breaker is not open.
  AGONES_ALLOC_DECL auto probe_at(std::string_view cluster, std::string_view endpoint) -> std::optional<time_point>;
  /// As breaker says. Openings after a call that found out are changes, too, where calls do so late.
  AGONES_ALLOC_DECL auto begin_probe(std::string_view cluster, std::string_view endpoint, time_point now) -> bool;
  /// `problem`: why there was no answer; "": there was one.
  AGONES_ALLOC_DECL void probed(std::string_view cluster, std::string_view endpoint, std::string_view problem,
                                time_point now, double draw);
  /// No policy names the endpoint any more.
  AGONES_ALLOC_DECL void forget(std::string_view cluster, std::string_view endpoint);

  /// `shape`: a hash of what the request wants, its namespace included.
  AGONES_ALLOC_DECL void exhausted(std::string_view cluster, std::size_t shape, time_point now);
  AGONES_ALLOC_DECL void not_exhausted(std::string_view cluster, std::size_t shape);
  AGONES_ALLOC_DECL auto was_exhausted(std::string_view cluster, std::size_t shape, time_point now) -> bool;

  /// Breakers that opened (`open`) or closed since the last call of this, in order; at most a few hundred are kept.
  struct change {
    std::string cluster;
    std::string endpoint;
    breaker_state now{breaker_state::closed};
  };
  auto take_changes() -> std::vector<change> { return std::exchange(changes_, {}); }

  /// By cluster and endpoint.
  AGONES_ALLOC_DECL auto endpoints(time_point now) const -> std::vector<endpoint_state>;

 private:
  /// Of the tables; until the next key is made.
  auto key_of(std::string_view first, std::string_view second) -> std::string_view;
  auto shape_key(std::string_view cluster, std::size_t shape) -> std::string_view;
  void note_change(std::string_view cluster, std::string_view endpoint, bool was_closed, breaker_state);

  struct endpoint_record {
    class breaker breaker;
    std::uint64_t calls{0};
    outcome last{outcome::unavailable};
    std::string message;
    std::chrono::nanoseconds took{0};
  };

  cluster_memory_options options_;
  detail::recent_table<endpoint_record> endpoints_;
  detail::recent_table<time_point> exhausted_;  ///< when that was
  std::vector<change> changes_;
  std::string key_;  ///< its memory is used again
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/cluster_memory.ipp>
#endif
