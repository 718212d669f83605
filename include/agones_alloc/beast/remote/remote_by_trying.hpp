// Endpoints that do not say which protocol they speak.
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

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct remote_by_trying_options {
  std::chrono::nanoseconds connect_time{std::chrono::seconds{2}};  ///< for finding out, credentials and connection included
  std::size_t endpoints{256};                                      ///< remembered at once; the one unused for longest goes
  std::chrono::nanoseconds secret_time_to_live{std::chrono::seconds{60}};
  std::chrono::nanoseconds secret_retry{std::chrono::seconds{5}};
  metrics* counts{nullptr};
  logger* log{nullptr};
};

namespace detail {
class remote_by_trying_core;
}

/// Finds out what an endpoint speaks by one TLS handshake that offers HTTP/2 and HTTP/1.1 and is followed by no request; calls and
/// probes then go to the remote for that protocol. A server that chooses HTTP/2 is called over gRPC, also where it serves both on
/// one port, as in Agones' chart: Agones calls it so, too, and one connection carries all calls. Any other, one without ALPN included,
/// is called over REST.
///
/// Remembered for each endpoint, Secret, server name and version of the credentials. Calls that come while it is being found out
/// wait for it, at most until their deadline. It is forgotten when a call ends as never executed without an answer, with 404, 405 or
/// 501, or of unknown fate; the next call finds it out anew. Where gRPC says that there is no such service (501: HTTP/2 that is
/// no gRPC), which executed nothing, the same call goes on over REST, once. Nothing else is ever sent a second time.
///
/// What cannot be found out is `unavailable`: no connection, no TLS, no valid certificate, no answer in `connect_time`.
///
/// Lifetimes: both remotes, Secrets, timer, metrics and logger must outlive it and what is outstanding. Thread safety: any thread.
class remote_by_trying final : public connected_remote {
 public:
  /// `secrets`: null where policies name none. Throws std::invalid_argument that names the option out of range.
  AGONES_ALLOC_DECL remote_by_trying(boost::asio::any_io_executor, connected_remote& rest, connected_remote& grpc,
                                     secret_source* secrets, timer&, remote_by_trying_options = {});
  AGONES_ALLOC_DECL ~remote_by_trying() override;
  remote_by_trying(remote_by_trying const&) = delete;
  auto operator=(remote_by_trying const&) -> remote_by_trying& = delete;

  AGONES_ALLOC_DECL auto can_probe() const noexcept -> bool override;
  /// Ends what is being found out; the two remotes stay as they are.
  AGONES_ALLOC_DECL void close() override;

 private:
  AGONES_ALLOC_DECL void do_allocate(remote_call, handler) override;
  AGONES_ALLOC_DECL void do_probe(remote_call, probe_handler) override;
  /// None: connections are the two remotes'.
  AGONES_ALLOC_DECL void tell_endpoints(endpoints_handler) override;

  std::shared_ptr<detail::remote_by_trying_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/remote_by_trying.ipp>
#endif
