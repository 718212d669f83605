// Allocates over several clusters: this one, and others through a remote allocator.
#pragma once

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/multi_cluster_options.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/cluster_memory.hpp>
#include <agones_alloc/port/policy_source.hpp>
#include <agones_alloc/port/remote_allocator.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class multi_cluster_core;
}

/// Goes through clusters as `cluster_fsm` says, by the policies of the request's start, until one has a server.
///
/// The result: `source` is "local" or the endpoint; `attempts` has a local or remote call each, the last included, and
/// the clusters and endpoints that were passed over. Without a policy for it: `refused`, with server_code 500 and the
/// reference's words (spec 8.1); with a bad policy selector: `invalid`. What cannot be forwarded (Q10) is `invalid`
/// once a remote is to be called, with the field.
///
/// Remote calls are not hedged: two calls at once may hand out two servers, and an Agones allocator cannot be told to
/// take one back.
///
/// Lifetimes: everything passed must outlive the allocator and its outstanding requests, and, where it is destroyed on
/// another thread than its executor's, what runs there at that moment. Destroying it cancels.
/// Thread safety: any thread may start or cancel. All else runs on a strand of the executor, the random source too.
class multi_cluster_allocator {
 public:
  using handler = boost::asio::any_completion_handler<void(error_code, allocation_result)>;
  using endpoints_handler = boost::asio::any_completion_handler<void(std::vector<endpoint_state>)>;

  /// `local`: null where this process has no game servers; its turn then counts as `unavailable`.
  /// Throws std::invalid_argument for options out of range.
  AGONES_ALLOC_DECL multi_cluster_allocator(boost::asio::any_io_executor, allocator* local, remote_allocator&,
                                            policy_source const&, timer&, random_source&, multi_cluster_options = {},
                                            multi_cluster_ports = {});
  AGONES_ALLOC_DECL ~multi_cluster_allocator();
  multi_cluster_allocator(multi_cluster_allocator const&) = delete;
  auto operator=(multi_cluster_allocator const&) -> multi_cluster_allocator& = delete;

  /// Handler signature: void(error_code, allocation_result); the code is error_of(result). Runs on the handler's
  /// associated executor, else on the strand; never inside this call; exactly once.
  ///
  /// Cancellation (terminal, partial and total alike):
  ///   between calls, or in a back-off     `cancelled`
  ///   during an allocation here           as allocator::async_allocate says
  ///   during a remote call, not yet sent  `cancelled`
  ///   during a remote call that was sent  `unknown`: it may have handed out a server; the same request id finds it
  ///                                       where the remote honours request ids
  /// The deadline is one for all of it (Q11): alike, with `deadline` for `cancelled`.
  template <class Token = boost::asio::deferred_t>
  auto async_allocate(multi_cluster_request request, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, allocation_result)>(
        [this](auto h, multi_cluster_request r) { start(std::move(r), handler{std::move(h)}); }, token,
        std::move(request));
  }

  /// What is known of each endpoint that was called. Handler signature: void(std::vector<endpoint_state>).
  template <class Token = boost::asio::deferred_t>
  auto async_endpoints(Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(std::vector<endpoint_state>)>(
        [this](auto h) { tell_endpoints(endpoints_handler{std::move(h)}); }, token);
  }

  /// Requests that have not completed. Any thread.
  AGONES_ALLOC_DECL auto outstanding() const noexcept -> std::size_t;

 private:
  AGONES_ALLOC_DECL void start(multi_cluster_request, handler);
  AGONES_ALLOC_DECL void tell_endpoints(endpoints_handler);

  std::shared_ptr<detail::multi_cluster_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/multi_cluster_allocator.ipp>
#endif
