// Allocators in other clusters, over their REST endpoints (spec 8.4, 8.10).
#pragma once

#include <agones_alloc/beast/remote/connected_remote.hpp>
#include <agones_alloc/beast/remote/secret_source.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/metrics.hpp>
#include <agones_alloc/port/remote_allocator.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct rest_remote_options {
  std::chrono::nanoseconds connect_time{std::chrono::seconds{2}};  ///< waiting for a connection, whatever phase it is in
  std::chrono::nanoseconds idle_time{std::chrono::seconds{240}};   ///< an unused connection is closed after it
  std::size_t connections{128};             ///< to one endpoint
  std::size_t answer_bytes{1U << 20U};      ///< body of an answer; more: of unknown fate
  std::size_t endpoints{256};               ///< with connections at once; the one unused for longest goes
  std::vector<int> exhausted_codes{};       ///< further statuses that mean "nothing available" (Q25)
  bool serial_executor{false};              ///< the executor runs one handler at a time: no strand is laid over it
  bool allow_plaintext{false};              ///< endpoints `http://...`
  std::chrono::nanoseconds secret_time_to_live{std::chrono::seconds{60}};
  std::chrono::nanoseconds secret_retry{std::chrono::seconds{5}};
  metrics* counts{nullptr};
  logger* log{nullptr};
};

namespace detail {
class rest_remote_core;
}

/// Posts an AllocationRequest with `multiClusterSetting.enabled` false, `Idempotency-Key`, `Agones-Alloc-Hops` (one more
/// than came in), `Agones-Alloc-Gate` where the call has one, and `Grpc-Timeout`, and reads the answer as remote_answer.hpp says. What the request cannot express is
/// refused before it is sent, with its field (Q10).
///
/// One pool of kept TLS connections (TLS 1.2 at least, sessions resumed where the server allows) for each endpoint, Secret and
/// server name (Q46). A Secret that changes makes new connections from then on; calls under way keep theirs.
///
/// Lifetimes: Secrets, timer, metrics and logger must outlive it and what is outstanding. Thread safety: any thread.
class rest_remote_allocator final : public connected_remote {
 public:
  /// `secrets`: null where policies name none. Throws std::invalid_argument for options out of range.
  AGONES_ALLOC_DECL rest_remote_allocator(boost::asio::any_io_executor, secret_source* secrets, timer&,
                                          rest_remote_options = {});
  AGONES_ALLOC_DECL ~rest_remote_allocator() override;
  rest_remote_allocator(rest_remote_allocator const&) = delete;
  auto operator=(rest_remote_allocator const&) -> rest_remote_allocator& = delete;

  /// A GET of the same path, which no allocator executes; over the same connections.
  auto can_probe() const noexcept -> bool override { return true; }
  AGONES_ALLOC_DECL void close() override;

 private:
  AGONES_ALLOC_DECL void do_allocate(remote_call, handler) override;
  AGONES_ALLOC_DECL void do_probe(remote_call, probe_handler) override;
  AGONES_ALLOC_DECL void tell_endpoints(endpoints_handler) override;

  std::shared_ptr<detail::rest_remote_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/rest_remote_allocator.ipp>
#endif
