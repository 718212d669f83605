// One allocation over several clusters as a state machine: what has happened goes in, what to do next comes out.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/backoff.hpp>
#include <agones_alloc/flow/cluster_memory.hpp>
#include <agones_alloc/flow/connection_iterator.hpp>
#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/port/random.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct cluster_limits {
  bool fallback_local{false};  ///< this cluster, in the request's namespace, when no policy's cluster had a server (Q14)
  std::uint32_t max_hops{4};   ///< a request that was forwarded so often already is not forwarded again
  /// Calls of unknown fate are made again so often, under the same request id. Only where every remote honours
  /// request ids; with any other, 0, and the request ends as `unknown`.
  std::uint32_t repeats{0};
  /// Rounds over the clusters that were busy, or over all that could not be reached; and the waits between.
  backoff_options rounds{3, std::chrono::milliseconds{100}, 2.0, 0.5, std::chrono::seconds{2}};
  std::size_t most_attempts{64};  ///< that are listed; later ones are not
  /// A request that may wait does so here this long at a time, and then asks the other clusters again.
  std::chrono::nanoseconds wait_slice{std::chrono::seconds{1}};
};

enum class cluster_step : std::uint8_t {
  local,     ///< allocate here, in the namespace of at(), waiting for a server up to `until` if that is to come; then answered()
  remote,    ///< call endpoint() of at(); then answered()
  sleep,     ///< then woken(), at `until`
  hold,      ///< an answer is on its way
  finished,  ///< tell the caller `result`
};

struct cluster_action {
  cluster_step step{cluster_step::finished};
  outcome result{outcome::unavailable};
  std::chrono::steady_clock::time_point until{};
  friend auto operator==(cluster_action const&, cluster_action const&) -> bool = default;
};

/// How a local allocation or a remote call ended. In a remote's words `unavailable`, and `deadline` before the
/// request's own, say that it was not executed; `unknown` that it may have been.
struct cluster_answer {
  outcome result{outcome::unavailable};
  bool whole_cluster{false};  ///< `unavailable` for a reason that all endpoints of the cluster share
  std::string message;
  std::chrono::nanoseconds retry_after{0};
};

/// The rules (product: several clusters; spec 8.2 to 8.4, Q10 to Q14, Q23 to Q25):
///   not executed           the cluster's next endpoint, then the next cluster
///   exhausted, contention  the next cluster
///   invalid, refused       the end
///   of unknown fate        again under the same request id, in the same cluster; or the end, `unknown`
/// A cluster that was exhausted a moment ago is asked after the others, and an endpoint whose breaker is open is not.
/// With nothing allocated the request ends as `contention` if any cluster was busy, else `exhausted` if any was, else
/// `unavailable`; busy or unreachable ones get further rounds first, while the deadline allows.
///
/// A request that may wait, and would end as `exhausted` or `contention`, asks them all over and over until its wait is
/// over. In between it waits at this cluster, in its queue, if this is one of them; one call at a time here as ever.
///
/// Not thread-safe. The memory is shared between requests; limits must outlive the machine.
class cluster_fsm {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using cluster = connection_iterator::cluster;
  struct surroundings {
    time_point now;
    cluster_memory& memory;
    random_source& random;
  };
  struct request {
    std::size_t shape{0};   ///< a hash of what it wants
    std::uint32_t hops{0};  ///< forwarded so often already
    time_point deadline{time_point::max()};
    time_point wait_until{time_point::min()};  ///< for a server, while there is none
  };

  AGONES_ALLOC_DECL cluster_fsm(connection_iterator clusters, request, cluster_limits const&);

  AGONES_ALLOC_DECL auto start(surroundings) -> cluster_action;
  AGONES_ALLOC_DECL auto answered(cluster_answer, surroundings) -> cluster_action;
  AGONES_ALLOC_DECL auto woken(surroundings) -> cluster_action;
  /// The caller leaves. While an answer is on its way: `hold`, the end comes with it.
  AGONES_ALLOC_DECL auto cancel() -> cluster_action;

  /// What the last step is about.
  auto at() const noexcept -> cluster const& { return *current_; }
  auto endpoint() const noexcept -> shared_string const& { return endpoint_; }  ///< "": local
  auto clusters() const noexcept -> connection_iterator const& { return clusters_; }
  auto attempts() const noexcept -> std::vector<attempt> const& { return attempts_; }  ///< each, in order
  auto calls() const noexcept -> std::uint32_t { return calls_; }  ///< local and remote ones
  auto retry_after() const noexcept -> std::chrono::nanoseconds { return retry_after_; }  ///< advice, of busy clusters

 private:
  enum class state : std::uint8_t { idle, calling, sleeping, finished };
  /// What the present round has met, and its clusters that are worth another.
  struct round {
    bool contention{false};
    bool unreachable{false};
    std::vector<cluster const*> busy;
    std::vector<cluster const*> unreached;
  };

  auto next_cluster(surroundings&) -> cluster_action;
  auto take_cluster(surroundings&) -> bool;
  auto next_endpoint(surroundings&) -> cluster_action;
  auto call(surroundings&) -> cluster_action;
  auto not_executed(bool whole_cluster, surroundings&) -> cluster_action;
  auto unknown_fate(surroundings&) -> cluster_action;
  auto end_of_round(surroundings&) -> cluster_action;
  auto wait_for_one(outcome so_far, surroundings&) -> cluster_action;
  auto pause(time_point until) -> cluster_action;
  void queue_up(std::vector<cluster const*>&);
  auto finish(outcome) -> cluster_action;
  static auto nobody() noexcept -> cluster const*;
  auto is_remote() const noexcept -> bool { return !current_->connection.allocation_endpoints.empty(); }
  void note(outcome, std::string message, std::chrono::nanoseconds took);

  connection_iterator clusters_;
  request request_;
  cluster_limits const* limits_;
  state state_{state::idle};
  bool drawing_{true};      ///< clusters come from the iterator still
  bool leaving_{false};     ///< cancelled while a call was under way
  bool in_doubt_{false};    ///< a call to the present cluster has an unknown fate
  bool again_{false};       ///< wake to repeat that call
  bool called_{false};      ///< an endpoint of the present cluster was called
  bool local_tried_{false};
  bool exhausted_{false};   ///< some cluster was
  bool remotes_{false};     ///< some cluster is remote
  bool waiting_{false};     ///< the present call waits here for a server
  time_point waits_until_{};
  outcome at_deadline_{outcome::deadline};  ///< once it has waited: what it would have ended as without
  std::uint32_t rounds_{1};
  std::uint32_t repeated_{0};
  std::uint32_t calls_{0};
  std::chrono::nanoseconds retry_after_{0};
  cluster const* here_{nullptr};       ///< this cluster, if it is one of them
  std::vector<cluster const*> queue_;  ///< to be asked, the next at the back
  std::vector<cluster const*> deferred_;
  round round_;
  cluster const* current_;
  std::size_t at_{0};  ///< which endpoint
  shared_string endpoint_;
  breaker::admission admission_{breaker::admission::yes};
  time_point called_at_{};
  std::vector<attempt> attempts_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/cluster_fsm.ipp>
#endif
