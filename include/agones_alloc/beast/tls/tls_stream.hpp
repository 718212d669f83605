// The byte stream of a TLS connection that a client opened.
#pragma once

#include <agones_alloc/beast/tls/server_context.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <openssl/x509_vfy.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// One read and one write may be pending together, after the handshake.
class tls_stream {
 public:
  using tcp = boost::asio::ip::tcp;
  using executor_type = tcp::socket::executor_type;

  tls_stream(tcp::socket socket, std::shared_ptr<server_context> context)
      : context_{std::move(context)}, stream_{std::move(socket), context_->native()} {}

  auto get_executor() -> executor_type { return stream_.get_executor(); }
  auto tcp_socket() noexcept -> tcp::socket& { return stream_.next_layer(); }
  /// After the handshake; null for a client that has shown no certificate.
  auto client() const noexcept -> client_certificate const* { return client_ ? &*client_ : nullptr; }

  /// Handler: void(error_code).
  template <class Handler>
  void async_handshake(Handler&& handler) {
    stream_.async_handshake(boost::asio::ssl::stream_base::server, std::forward<Handler>(handler));
  }
  /// After a handshake that succeeded.
  void read_client() { client_ = read_client_certificate(stream_.native_handle()); }
  /// Why the client's certificate was not accepted; "" when that was not the reason.
  auto verification_problem() -> std::string_view {
    auto const code = SSL_get_verify_result(stream_.native_handle());
    return code == X509_V_OK ? std::string_view{} : X509_verify_cert_error_string(code);
  }

  template <class Buffers, class Handler>
  auto async_read_some(Buffers const& to, Handler&& handler) {
    return stream_.async_read_some(to, std::forward<Handler>(handler));
  }
  template <class Buffers, class Handler>
  auto async_write_some(Buffers const& from, Handler&& handler) {
    return stream_.async_write_some(from, std::forward<Handler>(handler));
  }
  /// Says that nothing more will be sent; reading goes on. No write is pending. Handler: void(error_code), when that
  /// is sent.
  template <class Handler>
  void async_shut_sending(Handler&& handler) {
    // Asio's shutdown also waits for the other side's word, which must not be while a read is pending: its input is
    // lost then. With that word taken as come it only writes, as it begins to here and now.
    SSL_set_shutdown(stream_.native_handle(), SSL_RECEIVED_SHUTDOWN);
    stream_.async_shutdown(std::forward<Handler>(handler));
    SSL_set_shutdown(stream_.native_handle(), SSL_SENT_SHUTDOWN);
  }

 private:
  std::shared_ptr<server_context> context_;
  boost::asio::ssl::stream<tcp::socket> stream_;
  std::optional<client_certificate> client_;
};

template <class Kept>
void shut_sending(tls_stream& stream, Kept kept) {
  stream.async_shut_sending([kept = std::move(kept)](error_code) {});
}
inline auto peer_of(tls_stream& stream) -> std::string {
  error_code ec;
  auto const peer = stream.tcp_socket().remote_endpoint(ec);
  return ec ? std::string{} : peer.address().to_string();
}
inline void close_stream(tls_stream& stream) {
  error_code ignored;
  stream.tcp_socket().close(ignored);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
