// Carries the actions of cluster_fsm to the local allocator, the remote ones and the timer.
#pragma once

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/multi_cluster_options.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/policy_source.hpp>
#include <agones_alloc/port/remote_allocator.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// One request on its way. Waits for one thing at a time: an answer, or a pause's end.
struct cluster_operation {
  using handler = boost::asio::any_completion_handler<void(error_code, allocation_result)>;

  cluster_operation(multi_cluster_request r, handler h, cluster_fsm f)
      : request{std::move(r)}, done{std::move(h)}, fsm{std::move(f)} {}

  multi_cluster_request request;
  handler done;
  cluster_fsm fsm;
  timer::time_point started{};
  timer::time_point deadline{};
  boost::asio::cancellation_signal withdraw;  ///< towards what it waits for
  bool leaving{false};
  allocation_result last;             ///< what the last call here or there came to
  std::shared_ptr<breakdown const> remaining;  ///< of this cluster, when it was exhausted
  std::vector<attempt> local_attempts;  ///< at servers of this cluster
};

/// A dead endpoint that is asked now and then whether it is back, beside the requests. What it is called with.
struct watched_endpoint {
  remote_call call;
  boost::asio::cancellation_signal withdraw;
  enum class doing : std::uint8_t { nothing, waiting, probing } now{doing::nothing};
  std::uint64_t wait{0};  ///< the one that counts
};

/// Where a cancellation finds its operation: it may come before the operation has begun.
struct cluster_cancel {
  bool asked{false};
  std::weak_ptr<cluster_operation> operation;
};

/// Confined to its executor, which runs one handler at a time, but for construction and `outstanding`.
class multi_cluster_core final : public std::enable_shared_from_this<multi_cluster_core> {
 public:
  using handler = cluster_operation::handler;
  using endpoints_handler = boost::asio::any_completion_handler<void(std::vector<endpoint_state>)>;
  using operation_ptr = std::shared_ptr<cluster_operation>;
  using watched_ptr = std::shared_ptr<watched_endpoint>;

  AGONES_ALLOC_DECL multi_cluster_core(boost::asio::any_io_executor, allocator* local, remote_allocator&,
                                       policy_source const&, timer&, random_source&, multi_cluster_options,
                                       multi_cluster_ports);

  // Any thread.
  AGONES_ALLOC_DECL void submit(multi_cluster_request, handler);
  AGONES_ALLOC_DECL void tell_endpoints(endpoints_handler);
  AGONES_ALLOC_DECL void close();
  auto outstanding() const noexcept -> std::size_t { return outstanding_; }

 private:
  void begin(multi_cluster_request, handler, cluster_cancel&);
  auto choose(allocation_request const&) -> std::variant<connection_iterator, field_error>;
  void carry_out(operation_ptr const&, cluster_action const&);
  void allocate_here(operation_ptr const&, timer::time_point wait_until);
  void call_remote(operation_ptr const&);
  void on_local(operation_ptr const&, allocation_result);
  void on_remote(operation_ptr const&, remote_result);
  void cancel(operation_ptr const&);
  void finish(operation_ptr const&, outcome);
  void reject(handler, allocation_result);
  void report(cluster_operation const&, allocation_result const&);
  /// Breakers that opened or closed, by what was just done for `op`; null: for none.
  void note_changes(cluster_operation const* op);

  // Dead endpoints; multi_cluster_probes.ipp.
  void watch(cluster_operation const&, cluster_memory::change const&);
  void go_on_probing();
  void rest_if_idle();
  void probe_later(watched_ptr const&);
  void probe(watched_ptr const&);
  void on_probed(watched_ptr const&, std::string_view problem);
  auto is_named(remote_call const&) const -> bool;
  void forget(watched_ptr const&);

  auto with() -> cluster_fsm::surroundings { return {time_.now(), memory_, random_}; }

  boost::asio::any_io_executor serial_;
  boost::asio::any_completion_executor own_;
  allocator* local_;
  remote_allocator& remote_;
  policy_source const& policies_;
  timer& time_;
  random_source& random_;
  multi_cluster_options options_;
  multi_cluster_ports ports_;
  cluster_memory memory_;
  std::unordered_map<cluster_operation*, operation_ptr> operations_;
  policies_ptr chosen_of_;                                      ///< what `chosen_` was chosen of
  std::unordered_map<std::string, connection_iterator> chosen_;  ///< by namespace and selector
  std::string chosen_key_;                                       ///< its memory is used again
  std::unordered_map<std::string, watched_ptr> watched_;         ///< by cluster and endpoint
  std::atomic<std::size_t> outstanding_{0};
  bool closed_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/detail/multi_cluster_core.ipp>
#include <agones_alloc/impl/async/detail/multi_cluster_probes.ipp>
#include <agones_alloc/impl/async/detail/multi_cluster_reports.ipp>
#endif
