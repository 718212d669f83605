// A bounded HTTP/1.1 server on one executor.
#pragma once

#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/beast/http_limits.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

class tls_server;

namespace detail {
class http_listener_state;
}

/// Accepts connections and passes each request to one handler.
///
/// One request at a time per connection, in order; requests that were pipelined wait in a buffer of bounded size.
/// Malformed input is answered with 400 (or 408, 413, 417, 431, 501, 505) and ends the connection. While a request is
/// being handled the connection listens for its client's leaving and cancels the request then (Q12).
///
/// Executor: everything runs on the one given, which must not run two functions at once (an io_context of one
/// thread, or a strand). Lifetime: handler, timer, logger and observer must outlive the listener.
/// Destruction closes everything at once.
class http_listener {
 public:
  /// Throws std::invalid_argument that names the limit out of range.
  AGONES_ALLOC_DECL http_listener(boost::asio::any_io_executor, http_handler&, timer&, http_limits limits = {},
                                  logger* = nullptr, http_observer* = nullptr);
  AGONES_ALLOC_DECL ~http_listener();
  http_listener(http_listener const&) = delete;
  auto operator=(http_listener const&) -> http_listener& = delete;

  /// Before `listen`: serve HTTPS only. `tls` is loaded, and must outlive the listener. Clients that would be told that
  /// there are too many connections are closed without an answer.
  AGONES_ALLOC_DECL void use(tls_server& tls);

  /// Binds and starts to accept. `address` is a numeric IPv4 or IPv6 address; port 0 lets the system choose.
  /// Errors: errc::invalid_request (not a numeric address), or the system's (address in use, permission denied).
  AGONES_ALLOC_DECL auto listen(std::string const& address, std::uint16_t port) -> error_code;
  /// The port that was bound; 0 before `listen`.
  AGONES_ALLOC_DECL auto port() const noexcept -> std::uint16_t;
  /// Open connections.
  AGONES_ALLOC_DECL auto connections() const noexcept -> std::size_t;

  /// Stops accepting, closes idle connections, lets requests in flight finish (their connections close after
  /// the answer) and completes when no connection is left. At `deadline` the rest is cut.
  ///
  /// Handler signature: void(error_code); errors: errc::deadline_exceeded when something had to be cut,
  /// errc::cancelled when `close` or the destructor came first. One drain at a time.
  template <class Token = boost::asio::deferred_t>
  auto async_drain(timer::time_point deadline, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code)>(
        [this](auto handler, timer::time_point by) { drain(by, drain_handler{std::move(handler)}); }, token, deadline);
  }

  /// Stops accepting and cuts every connection; requests in flight are cancelled.
  AGONES_ALLOC_DECL void close();

 private:
  using drain_handler = boost::asio::any_completion_handler<void(error_code)>;
  AGONES_ALLOC_DECL void drain(timer::time_point, drain_handler);

  std::shared_ptr<detail::http_listener_state> state_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/http_listener.ipp>
#endif
