// What a connection carries, and what it tells its owner.
#pragma once

#include <agones_alloc/beast/client/client_message.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/port/timer.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

class client_connection;

/// How an exchange ended. `ec` is what went wrong on the wire, whatever the method.
struct exchange_end {
  error_code ec;
  bool taken{true};   ///< bytes of the request may be on their way
  bool stale{false};  ///< a kept connection was lost before a byte of the answer
};

/// One request and its answer on a connection. Called on the client's executor.
class client_exchange {
 public:
  virtual ~client_exchange() = default;
  /// Streamed only: the head is there, nothing more is read until client_connection::resume.
  virtual void on_head(response_head const&) = 0;
  /// Streamed only, after a resume: takes `bytes`, which are not empty.
  virtual void on_body(std::string& bytes) = 0;
  /// Once, and the last: the connection has let go of it. `response` holds what arrived; not the body of a stream.
  virtual void on_end(exchange_end, client_response response) = 0;

  std::string wire;  ///< the request
  bool head_only{false};
  bool streamed{false};
  std::optional<std::uint64_t> body_bytes;  ///< most that are read
  timer::time_point deadline{timer::time_point::max()};
  std::chrono::nanoseconds silence{0};
};

/// The owner of connections. Each call may use or close the connection.
class connection_owner {
 public:
  virtual ~connection_owner() = default;
  virtual void opened(client_connection&) = 0;    ///< at rest for the first time
  virtual void released(client_connection&) = 0;  ///< at rest again
  virtual void closed(client_connection&) = 0;    ///< after either of them, by itself
  /// Never came to rest. `phase`: "resolve", "connect" or "TLS handshake".
  virtual void open_failed(client_connection&, error_code, std::string_view phase, std::string_view reason) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
