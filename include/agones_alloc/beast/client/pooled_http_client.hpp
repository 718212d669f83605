// The HTTP/1.1 client: pooled keep-alive connections over TCP or TLS.
#pragma once

#include <agones_alloc/beast/client/client_counts.hpp>
#include <agones_alloc/beast/client/client_options.hpp>
#include <agones_alloc/beast/client/credentials.hpp>
#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class client_pool;
}

/// Sends each request on an idle connection, the one used last, or on a new one while the bound allows, else the
/// request waits, first come first served. A connection whose answer was complete is kept; one made with another
/// tls_identity than the present one is closed as soon as it is idle.
///
/// Sent again by itself, once: a request whose kept connection turns out to be closed, when no byte of it was taken by
/// the system or its method is safe; and a request answered 401, if the provider then has other credentials. Nothing
/// else: 429 and 5xx are for the caller.
///
/// Executor: everything runs on the one given, which must not run two functions at once (an io_context of one thread,
/// or a strand). Requests may be initiated and cancelled, and streams read and destroyed, on any thread; handlers
/// complete on their associated executor, else on the client's. Lifetime: timer and logger must outlive the client and
/// what is pending. Logs failures to connect, never fields or bodies.
class pooled_http_client final : public http_client {
 public:
  /// Throws std::invalid_argument that names the option out of range.
  AGONES_ALLOC_DECL pooled_http_client(boost::asio::any_io_executor, client_endpoint,
                                       std::shared_ptr<credentials_provider>, timer&, client_options = {},
                                       logger* = nullptr);
  AGONES_ALLOC_DECL ~pooled_http_client() override;
  pooled_http_client(pooled_http_client const&) = delete;
  auto operator=(pooled_http_client const&) -> pooled_http_client& = delete;

  /// Closes every connection. What is pending ends with errc::cancelled or errc::outcome_unknown, what comes with the
  /// former. Any thread.
  AGONES_ALLOC_DECL void close();
  /// On the client's executor only.
  AGONES_ALLOC_DECL auto counts() const noexcept -> client_counts;

 private:
  AGONES_ALLOC_DECL void do_request(client_request, response_handler) override;
  AGONES_ALLOC_DECL void do_stream(client_request, stream_handler) override;

  std::shared_ptr<detail::client_pool> pool_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/pooled_http_client.ipp>
#endif
