// A TLS client that does what a test says, on the server's own thread.
#pragma once

#include "certificates.hpp"
#include "raw_client.hpp"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace beast_test {

struct tls_client_wish {
  std::string authority{};             ///< PEM; "": whatever the server shows is accepted
  certificate_authority::pair own{};   ///< shown when asked for; empty: none
  int version{TLS1_3_VERSION};
  std::string protocols{};             ///< ALPN, in wire format
  SSL_SESSION* resumed{nullptr};
  char const* ciphers{nullptr};        ///< of TLS 1.2; null: OpenSSL's usual ones
};

class tls_client {
 public:
  tls_client(boost::asio::io_context& io, std::uint16_t port, tls_client_wish const& wish)
      : io_{&io}, context_{boost::asio::ssl::context::tls_client}, stream_{make(io, context_, wish)} {
    bool done = false;
    stream_.next_layer().async_connect({boost::asio::ip::address_v4::loopback(), port},
                                       [&](boost::system::error_code ec) {
                                         if (ec) return finish(ec, done);
                                         stream_.async_handshake(boost::asio::ssl::stream_base::client,
                                                                 [&](boost::system::error_code e) { finish(e, done); });
                                       });
    run_until(io, [&] { return done; });
  }

  auto problem() const -> boost::system::error_code { return problem_; }
  auto native() -> SSL* { return stream_.native_handle(); }
  /// Name of the server that was shown.
  auto server() -> std::string {
    auto* const shown = SSL_get0_peer_certificate(native());
    char name[64] = {};
    if (shown != nullptr) X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, name, sizeof name);
    return name;
  }

  /// Status 0: the connection has ended without an answer. With a server of TLS 1.3, that is how a refused certificate shows.
  auto ask(std::string_view text) -> answer {
    send(text);
    std::size_t end = std::string::npos;
    while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
      if (!read()) return {};
    }
    auto out = parse_head(input_.substr(0, end + 4));
    input_.erase(0, end + 4);
    auto const size = out.field("content-length").empty() ? 0 : std::stoul(out.field("content-length"));
    while (input_.size() < size) {
      if (!read()) return {};
    }
    out.body = input_.substr(0, size);
    input_.erase(0, size);
    return out;
  }

  void send(std::string_view text) {
    bool done = false;
    if (!problem_) {
      boost::asio::async_write(stream_, boost::asio::buffer(text),
                               [&](boost::system::error_code ec, std::size_t) { finish(ec, done); });
      run_until(*io_, [&] { return done; });
    }
  }

  /// Reads until the server ends it; whether it said so, or was cut.
  auto ends_cleanly() -> bool {
    while (read()) {
    }
    return problem_ == boost::asio::error::eof;
  }
  void close() { stream_.next_layer().close(); }

 private:
  static auto make(boost::asio::io_context& io, boost::asio::ssl::context& context, tls_client_wish const& wish)
      -> boost::asio::ssl::stream<boost::asio::ip::tcp::socket> {
    if (!wish.authority.empty()) {
      context.add_certificate_authority(boost::asio::buffer(wish.authority));
      context.set_verify_mode(boost::asio::ssl::verify_peer);
    }
    if (!wish.own.certificate.empty()) {
      context.use_certificate_chain(boost::asio::buffer(wish.own.certificate));
      context.use_private_key(boost::asio::buffer(wish.own.key), boost::asio::ssl::context::pem);
    }
    SSL_CTX_set_security_level(context.native_handle(), wish.version < TLS1_2_VERSION ? 0 : 1);
    SSL_CTX_set_min_proto_version(context.native_handle(), wish.version);
    SSL_CTX_set_max_proto_version(context.native_handle(), wish.version);
    if (wish.ciphers != nullptr && SSL_CTX_set_cipher_list(context.native_handle(), wish.ciphers) != 1) {
      throw std::logic_error{"no such ciphers"};
    }
    boost::asio::ssl::stream<boost::asio::ip::tcp::socket> out{io, context};
    if (!wish.protocols.empty()) {
      SSL_set_alpn_protos(out.native_handle(), reinterpret_cast<unsigned char const*>(wish.protocols.data()),
                          static_cast<unsigned>(wish.protocols.size()));
    }
    if (wish.resumed != nullptr) SSL_set_session(out.native_handle(), wish.resumed);
    return out;
  }

  auto read() -> bool {
    if (problem_) return false;
    bool done = false;
    std::size_t size = 0;
    char block[4096];
    stream_.async_read_some(boost::asio::buffer(block), [&](boost::system::error_code ec, std::size_t n) {
      size = n;
      finish(ec, done);
    });
    run_until(*io_, [&] { return done; });
    input_.append(block, size);
    return !problem_;
  }

  void finish(boost::system::error_code ec, bool& done) {
    problem_ = ec;
    done = true;
  }

  boost::asio::io_context* io_;
  boost::asio::ssl::context context_;
  boost::asio::ssl::stream<boost::asio::ip::tcp::socket> stream_;
  boost::system::error_code problem_;
  std::string input_;
};

}  // namespace beast_test
