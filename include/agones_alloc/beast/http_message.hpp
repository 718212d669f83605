// Requests and answers as plain values: what routes and decides never sees Beast.
#pragma once

#include <agones_alloc/beast/caller_identity.hpp>
#include <agones_alloc/beast/tls/client_certificate.hpp>
#include <agones_alloc/config.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// One complete request. Views stay valid until its answer is given.
class http_request {
 public:
  std::string_view method;  ///< as it came, upper case for every known method
  std::string_view path;    ///< without the query; not percent-decoded
  std::string_view query;   ///< without the '?'; not decoded
  std::string_view body;    ///< whole, chunks joined; bounded by http_limits::body_bytes
  std::string_view peer;    ///< the other side's address, without its port; "" where the connection has none
  client_certificate const* client{nullptr};  ///< of the connection; null: plain HTTP, or none was shown
  caller_identity const* caller{nullptr};     ///< who asks, where an `identity_gate` has found out

  virtual ~http_request() = default;
  /// The field's value, repeated fields joined with ", "; "" when absent. Names ignore case.
  virtual auto header(std::string_view name) const -> std::string = 0;
  /// Every field, in order, as it came; `visit` is called with name and value.
  virtual void visit_headers(std::function<void(std::string_view, std::string_view)> const& visit) const = 0;

 protected:
  http_request() = default;
  http_request(http_request const&) = default;
  auto operator=(http_request const&) -> http_request& = default;
};

/// The body of an answer that goes on for as long as there is something to tell. Confined to the connection's executor.
class http_body_stream {
 public:
  using piece = std::shared_ptr<std::string const>;

  virtual ~http_body_stream() = default;
  /// Calls `then` once, inside or after this call, with the next bytes, not empty, which may be shared with others; null: the
  /// body is complete. One call at a time; the next one comes when the client's side has taken the bytes.
  virtual void next(std::function<void(piece)> then) = 0;
  /// Nothing more is wanted: the client has left, was too slow, or the server stops. A `then` that waits is dropped.
  virtual void stop() = 0;
};

/// One answer. Content-Length, Date, Connection and Server are the connection's affair.
struct http_response {
  int status{200};
  std::string content_type;  ///< "" for none
  std::string body;
  /// Further fields. A control character in a name or value becomes a space: no field can be smuggled in.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view route;  ///< a literal of a small set, for metrics and logs: "kubernetes", "rest", "probe", ...
  bool close{false};       ///< end the connection after this answer
  std::shared_ptr<http_body_stream> stream{};  ///< not null: the body, in chunks, in place of `body`
};

/// `text/plain; charset=utf-8` with a newline after the text, as Go's http.Error answers.
inline auto text_response(int status, std::string_view text) -> http_response {
  http_response out;
  out.status = status;
  out.content_type = "text/plain; charset=utf-8";
  out.body.reserve(text.size() + 1);
  out.body.append(text).push_back('\n');
  return out;
}

inline auto json_response(int status, std::string body) -> http_response {
  http_response out;
  out.status = status;
  out.content_type = "application/json";
  out.body = std::move(body);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
