// Port: an HTTP client for one server. `pooled_http_client` is the real one; tests bring their own.
#pragma once

#include <agones_alloc/beast/client/client_message.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// The body of an answer while it arrives: watches, streaming lists, anything too large to keep.
/// Destroying it at any time, also while a read is pending (which then fails with errc::cancelled), gives up the rest.
class response_stream {
 public:
  using handler = boost::asio::any_completion_handler<void(error_code, std::string_view)>;

  virtual ~response_stream() = default;
  virtual auto head() const noexcept -> response_head const& = 0;

  /// The next bytes of the body, chunk framing removed, never empty on success. They break anywhere and are valid until
  /// the next read or the stream's end. One read at a time; nothing is read from the server unless asked for.
  ///
  /// Handler signature: void(error_code, std::string_view). Errors, all final:
  ///   boost::asio::error::eof   the body is complete
  ///   errc::unavailable         reset, or closed before the body was complete, or silent for too long
  ///   errc::malformed           not HTTP
  ///   errc::deadline_exceeded   the request's deadline has passed
  ///   errc::cancelled           by the caller, the stream's destruction or the client's end
  /// Cancellation: terminal; the stream is of no use then. Never completes inline.
  template <class Token = boost::asio::deferred_t>
  auto async_read_some(Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, std::string_view)>(
        [this](auto h) { do_read_some(handler{std::move(h)}); }, token);
  }

 private:
  virtual void do_read_some(handler) = 0;
};

/// Requests to one server.
///
/// An answer of any HTTP status is a success here: 409, 429 and 503 are the caller's to read. Errors say what became
/// of the request. It was not executed, and no byte of it reached the server:
///   errc::unavailable        no connection, no TLS, no credentials, or the connection was lost before it took a byte
///                            of the request; condition::retryable
///   errc::too_many_requests  the queue is full, or the wait for a connection too long; condition::retryable
///   errc::deadline_exceeded  its deadline passed first
///   errc::cancelled          by the caller or the client's end
///   errc::invalid_request    a method, target or field that cannot be written, or a body over the bound
/// Or bytes of it may have reached the server, and no complete answer came:
///   errc::outcome_unknown    reset, half an answer, time-out, deadline, cancellation, an answer over the bounds, or no
///                            HTTP. The response holds the head (status not 0) if that much arrived
/// Requests with a safe method (GET, HEAD) never end in outcome_unknown; once sent they fail with
///   errc::unavailable        reset, half an answer, or a phase's time-out
///   errc::deadline_exceeded, errc::cancelled
///   errc::limit_exceeded     head or body over the bounds
///   errc::malformed          not HTTP
///
/// Cancellation: terminal, at any time. Completion never runs inside the initiating function. Lifetime: may be
/// destroyed with requests pending; they end with errc::cancelled or errc::outcome_unknown.
class http_client {
 public:
  using response_handler = boost::asio::any_completion_handler<void(error_code, client_response)>;
  using stream_handler = boost::asio::any_completion_handler<void(error_code, std::unique_ptr<response_stream>)>;

  virtual ~http_client() = default;

  /// Sends and reads the whole answer. Handler signature: void(error_code, client_response).
  template <class Token = boost::asio::deferred_t>
  auto async_request(client_request request, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, client_response)>(
        [this](auto h, client_request r) { do_request(std::move(r), response_handler{std::move(h)}); }, token,
        std::move(request));
  }

  /// Sends and reads the answer's head; the body follows through the stream, whatever the status. The stream is null
  /// on errors. The request's deadline goes on to count for the stream. Cancellation ends with the head; after it,
  /// destroy the stream. Handler signature: void(error_code, std::unique_ptr<response_stream>).
  template <class Token = boost::asio::deferred_t>
  auto async_stream(client_request request, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, std::unique_ptr<response_stream>)>(
        [this](auto h, client_request r) { do_stream(std::move(r), stream_handler{std::move(h)}); }, token,
        std::move(request));
  }

 private:
  virtual void do_request(client_request, response_handler) = 0;
  virtual void do_stream(client_request, stream_handler) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
