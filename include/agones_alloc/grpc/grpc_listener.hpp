// A bounded gRPC server in front of an http_handler.
#pragma once

#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/beast/tls/tls_server.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Bounds and manners. The times are Agones' (spec 8.11).
struct grpc_listener_options {
  bool information{true};   ///< offer information.InformationService
  bool reflection{false};   ///< tell clients the services and messages
  std::size_t message_bytes{256 * 1024};  ///< of a request; more: ResourceExhausted
  std::size_t calls{65536};               ///< open at once; more: Unavailable
  std::size_t calls_of_connection{1024};  ///< open at once; a client keeps the others back
  std::size_t memory_bytes{std::size_t{256} << 20U};  ///< of gRPC's own buffers
  std::chrono::nanoseconds least_ping_interval{std::chrono::minutes{1}};  ///< a client that pings more often is sent away
  std::chrono::nanoseconds idle_time{std::chrono::minutes{5}};   ///< a connection without calls is closed then
  std::chrono::nanoseconds ping_time{std::chrono::hours{2}};     ///< of silence, then the client is pinged
  std::chrono::nanoseconds ping_wait{std::chrono::minutes{10}};  ///< without an answer the connection is closed
};

namespace detail {
class grpc_listener_state;
}

/// Makes each call into a request for the handler: `method` POST, `path` the call's, `body` the message in bytes, fields the
/// metadata, `Grpc-Timeout` what is left of the deadline, `client` the certificate that was shown; and the answer into the
/// call's message, status (grpc_status_field and so on, or else by the HTTP status) and trailing metadata. An answer with a
/// `stream` is a stream of messages: its pieces are messages, each after its size in four bytes, the highest first.
///
/// Serves allocation.AllocationService, information.InformationService, the standard health service, and reflection. A call's
/// leaving cancels its request (Q12). gRPC's own threads read and write; everything else happens on the executor, which must
/// not run two functions at once. Lifetime: handler, timer and observer must outlive it. Destruction ends every call with
/// Unavailable, and waits until gRPC is done with them, which takes milliseconds.
class grpc_listener {
 public:
  /// Throws std::invalid_argument that names the option out of range.
  AGONES_ALLOC_DECL grpc_listener(boost::asio::any_io_executor, http_handler&, timer&, grpc_listener_options = {},
                                  http_observer* = nullptr);
  AGONES_ALLOC_DECL ~grpc_listener();
  grpc_listener(grpc_listener const&) = delete;
  auto operator=(grpc_listener const&) -> grpc_listener& = delete;

  /// Before `listen`: serve TLS only, with the certificates of `tls`, as they are at each handshake. It is loaded, and must
  /// outlive the listener. Whose certificate is not accepted fails in the handshake; of front proxies nothing is known here.
  AGONES_ALLOC_DECL void use(tls_server& tls, client_verification);

  /// Binds and starts to serve. `address` is a numeric IPv4 or IPv6 address; port 0 lets the system choose.
  /// Errors: errc::invalid_request (not a numeric address), else it cannot be bound: address_in_use, whatever the reason.
  AGONES_ALLOC_DECL auto listen(std::string const& address, std::uint16_t port) -> error_code;
  /// The port that was bound; 0 before `listen`.
  AGONES_ALLOC_DECL auto port() const noexcept -> std::uint16_t;
  /// Calls that are open.
  AGONES_ALLOC_DECL auto calls() const -> std::size_t;
  /// What the health service says: NOT_SERVING until this says otherwise.
  AGONES_ALLOC_DECL void set_serving(bool);

  /// NOT_SERVING; no more calls, streams end with Unavailable, other calls may finish. Completes when none is left. At
  /// `deadline` the rest is cut, with Unavailable.
  ///
  /// Handler signature: void(error_code); errc::deadline_exceeded when something had to be cut. Once.
  template <class Token = boost::asio::deferred_t>
  auto async_drain(timer::time_point deadline, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code)>(
        [this](auto handler, timer::time_point by) { drain(by, drain_handler{std::move(handler)}); }, token, deadline);
  }

 private:
  using drain_handler = boost::asio::any_completion_handler<void(error_code)>;
  AGONES_ALLOC_DECL void drain(timer::time_point, drain_handler);

  std::shared_ptr<detail::grpc_listener_state> state_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/grpc/grpc_listener.ipp>
#endif
