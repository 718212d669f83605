// What TLS connections of one identity share: trust, certificate, and the session to resume.
#pragma once

#include <agones_alloc/beast/client/credentials.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <memory>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// TLS 1.2 or newer, HTTP/1.1 by ALPN. Confined to the client's executor.
class tls_context {
 public:
  /// The error is OpenSSL's, or errc::invalid_request where a key does not belong to its certificate; `what` then names
  /// the part that is bad, never its content.
  static AGONES_ALLOC_DECL auto make(tls_identity, std::string const& host, std::string& what)
      -> result<std::shared_ptr<tls_context>>;
  AGONES_ALLOC_DECL ~tls_context();
  tls_context(tls_context const&) = delete;
  auto operator=(tls_context const&) -> tls_context& = delete;

  auto identity() const noexcept -> tls_identity const& { return identity_; }
  auto native() noexcept -> boost::asio::ssl::context& { return context_; }
  /// Before the handshake: the name that is expected, SNI, and the last session.
  AGONES_ALLOC_DECL auto prepare(SSL*) -> error_code;
  /// Takes over the reference; called by OpenSSL as tickets arrive.
  AGONES_ALLOC_DECL void keep(SSL_SESSION*) noexcept;

 private:
  AGONES_ALLOC_DECL tls_context(tls_identity, std::string const& host);
  AGONES_ALLOC_DECL auto load(std::string& what) -> error_code;

  tls_identity identity_;
  std::string name_;  ///< expected in the certificate: a name or an address
  boost::asio::ssl::context context_;
  SSL_SESSION* session_{nullptr};
};

/// Whether a read failed because the other side refused our part of the handshake, so that it executed nothing.
AGONES_ALLOC_DECL auto is_handshake_alert(error_code const&) noexcept -> bool;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/tls_context.ipp>
#endif
