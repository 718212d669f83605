// The byte stream of a client's connection: TCP, or TLS over it.
#pragma once

#include <agones_alloc/beast/client/tls_context.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// One read and one write may be pending together. Plain until `secure`.
class client_socket {
 public:
  using tcp = boost::asio::ip::tcp;

  explicit client_socket(boost::asio::any_io_executor executor) : socket_{std::move(executor)} {}

  auto tcp_socket() noexcept -> tcp::socket& { return socket_; }
  auto is_tls() const noexcept -> bool { return tls_.has_value(); }

  /// Handshake as the client. Handler: void(error_code).
  template <class Handler>
  auto secure(std::shared_ptr<tls_context> const& context, Handler&& handler) -> error_code {
    tls_.emplace(socket_, context->native());
    if (auto const ec = context->prepare(tls_->native_handle())) return ec;
    tls_->async_handshake(boost::asio::ssl::stream_base::client, std::forward<Handler>(handler));
    return {};
  }

  /// After the handshake: it took up the session of an earlier connection.
  auto resumed() -> bool { return tls_ && SSL_session_reused(tls_->native_handle()) == 1; }

  /// After the handshake: what the server chose by ALPN; "": nothing. Valid as long as this.
  auto protocol() -> std::string_view {
    unsigned char const* chosen = nullptr;
    unsigned size = 0;
    if (tls_) SSL_get0_alpn_selected(tls_->native_handle(), &chosen, &size);
    return {reinterpret_cast<char const*>(chosen), size};
  }

  /// Why the server's certificate was not accepted; "" when that was not the reason.
  auto verification_problem() -> std::string_view {
    auto const code = tls_ ? SSL_get_verify_result(tls_->native_handle()) : X509_V_OK;
    return code == X509_V_OK ? std::string_view{} : X509_verify_cert_error_string(code);
  }

  template <class Handler>
  void read_some(boost::asio::mutable_buffer to, Handler&& handler) {
    if (tls_) {
      tls_->async_read_some(to, std::forward<Handler>(handler));
    } else {
      socket_.async_read_some(to, std::forward<Handler>(handler));
    }
  }

  template <class Handler>
  void write(boost::asio::const_buffer from, Handler&& handler) {
    if (tls_) {
      boost::asio::async_write(*tls_, from, std::forward<Handler>(handler));
    } else {
      boost::asio::async_write(socket_, from, std::forward<Handler>(handler));
    }
  }

  /// For a connection at rest: whether the other side has closed it, or sent what nobody asked for. One system call.
  auto is_stale() -> bool {
    error_code ec;
    char byte = 0;
    if (!socket_.non_blocking()) socket_.non_blocking(true, ec);
    if (ec) return true;
    socket_.receive(boost::asio::buffer(&byte, 1), tcp::socket::message_peek, ec);
    return ec != boost::asio::error::would_block;
  }

  /// Ends everything at once; pending operations fail. TLS goes without its closing word: no answer relies on it.
  void close() noexcept {
    // OpenSSL would take it for a failure, and the session for one not to be resumed.
    if (tls_) SSL_set_shutdown(tls_->native_handle(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

 private:
  tcp::socket socket_;
  std::optional<boost::asio::ssl::stream<tcp::socket&>> tls_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
