// Requests and answers of the HTTP client, as plain values.
#pragma once

#include <agones_alloc/config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// One request. Host, Authorization, User-Agent, Content-Length and Connection are the client's affair.
struct client_request {
  std::string method{"GET"};  ///< upper case; a token
  std::string target;         ///< path and query, percent-encoded, from '/'; the endpoint's base path goes before it
  std::string content_type;   ///< of the body; "" sends none
  std::string body;           ///< sent as it is
  /// Further fields. A name that is no token, or a control character in a value, is errc::invalid_request.
  std::vector<std::pair<std::string, std::string>> headers;
  /// When the caller's patience ends, whatever phase the request is in. None: the phases' time-outs alone.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// Most bytes of the answer's body; 0: client_limits::body_bytes. A stream has no bound.
  std::size_t body_limit{0};
  /// Longest silence on a stream before it fails; 0: client_times::silence. Not for async_request.
  std::chrono::nanoseconds silence{0};
};

/// GET or HEAD: repeating it has no effect, so it is never of unknown outcome.
inline auto is_safe(client_request const& request) noexcept -> bool {
  return request.method == "GET" || request.method == "HEAD";
}

/// Status and the fields that callers act on.
struct response_head {
  int status{0};             ///< 0: none arrived
  std::string content_type;  ///< as it came, "" when absent
  /// `Retry-After` in seconds; a date or nonsense is none. At most a day.
  std::optional<std::chrono::seconds> retry_after;
  std::optional<std::uint64_t> content_length;  ///< of the body as sent; none when chunked or until the end
};

/// One whole answer, whatever its status.
struct client_response : response_head {
  std::string body;  ///< chunks joined
  std::string reason;  ///< with an error, what it came from in words: "connect: Connection refused"; "" when not known
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
