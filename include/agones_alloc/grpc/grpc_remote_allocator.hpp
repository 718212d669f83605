// Allocators in other clusters, over gRPC (spec 8.4, 8.7 to 8.9).
#pragma once

#include <agones_alloc/beast/remote/connected_remote.hpp>
#include <agones_alloc/beast/remote/secret_source.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/metrics.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct grpc_remote_options {
  std::chrono::nanoseconds connect_time{std::chrono::seconds{2}};  ///< for a connection; one address gets half of it
  std::chrono::nanoseconds idle_time{std::chrono::seconds{240}};   ///< an unused connection is closed after it
  std::chrono::nanoseconds ping_time{std::chrono::seconds{75}};    ///< of silence; Agones sends away who pings every minute
  std::chrono::nanoseconds ping_wait{std::chrono::seconds{10}};    ///< without an answer the connection is lost
  std::size_t answer_bytes{1U << 20U};      ///< of an answer; more: of unknown fate
  std::size_t endpoints{256};               ///< with connections at once; the one unused for longest goes
  std::vector<int> exhausted_codes{};       ///< further HTTP statuses, of which the codes mean "nothing available" (Q25)
  bool allow_plaintext{false};              ///< endpoints `grpc+http://...`
  std::chrono::nanoseconds secret_time_to_live{std::chrono::seconds{60}};
  std::chrono::nanoseconds secret_retry{std::chrono::seconds{5}};
  metrics* counts{nullptr};
  logger* log{nullptr};
};

namespace detail {
class grpc_remote_core;
}

/// Calls `allocation.AllocationService/Allocate` with `multiClusterSetting.enabled` false, the call's deadline, and metadata
/// `idempotency-key` and `agones-alloc-hops` (one more than came in); reads the end as grpc_answer.hpp says. What the request
/// cannot express is refused before it is sent, with its field (Q10).
///
/// One channel, of one connection (TLS 1.2 at least), for each endpoint, Secret and server name, and each version of its
/// credentials (Q46): calls under way end on the old one. Where there is no connection the standard health service is asked
/// first, within `connect_time`: what fails then was not executed. One that is NOT_SERVING is not called; one that has no
/// health service is. gRPC tries nothing again by itself: a call whose connection the remote ends while the call is put on it is of
/// unknown fate, and an endpoint that ends every connection at once has few connections a call.
///
/// Lifetimes: Secrets, timer, metrics, logger and the executor's context must outlive it. Thread safety: any thread.
/// Destruction cancels what is pending and waits for gRPC's end of it, which takes milliseconds.
class grpc_remote_allocator final : public connected_remote {
 public:
  /// `secrets`: null where policies name none. Throws std::invalid_argument that names the option out of range.
  AGONES_ALLOC_DECL grpc_remote_allocator(boost::asio::any_io_executor, secret_source* secrets, timer&,
                                          grpc_remote_options = {});
  AGONES_ALLOC_DECL ~grpc_remote_allocator() override;
  grpc_remote_allocator(grpc_remote_allocator const&) = delete;
  auto operator=(grpc_remote_allocator const&) -> grpc_remote_allocator& = delete;

  /// Asks the health service; over the same connection.
  auto can_probe() const noexcept -> bool override { return true; }
  AGONES_ALLOC_DECL void close() override;

 private:
  AGONES_ALLOC_DECL void do_allocate(remote_call, handler) override;
  AGONES_ALLOC_DECL void do_probe(remote_call, probe_handler) override;
  AGONES_ALLOC_DECL void tell_endpoints(endpoints_handler) override;

  std::shared_ptr<detail::grpc_remote_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/grpc/grpc_remote_allocator.ipp>
#endif
