// What answers a request, and what watches requests being answered.
#pragma once

#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <chrono>
#include <cstddef>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Answers requests: a front end, a router, probes.
class http_handler {
 public:
  using reply = boost::asio::any_completion_handler<void(http_response)>;

  virtual ~http_handler() = default;

  /// Calls `reply` exactly once, inside or after this call, on the connection's executor.
  ///
  /// Cancellation: the reply's slot gets `terminal` when the client leaves; answer soon then, the answer
  /// is still sent in case only the sending half was closed. The request lives until the reply is called.
  /// Must not throw. Every wait of the handler's own needs a deadline: the connection sets none.
  virtual void handle(http_request const& request, reply) = 0;
};

/// Told about connections and finished requests, on the listener's executor. Must not block and must not throw.
class http_observer {
 public:
  virtual ~http_observer() = default;
  virtual void connections(std::size_t /*open*/) {}
  /// Connections ended by the server for a limit: "too many connections", "idle", "slow request", "slow reader",
  /// "slow handshake"; or because its TLS handshake failed: "handshake".
  virtual void connection_cut(std::string_view /*why*/) {}
  /// `route` is http_response::route, or "protocol" for requests that never reached a handler.
  virtual void request(std::string_view /*route*/, std::string_view /*method*/, int /*status*/,
                       std::chrono::nanoseconds /*took*/) {}
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
