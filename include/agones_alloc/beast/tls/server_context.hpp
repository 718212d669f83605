// One bundle of certificates, ready to make connections of.
#pragma once

#include <agones_alloc/beast/tls/client_certificate.hpp>
#include <agones_alloc/config.hpp>

#include <boost/asio/ssl/context.hpp>

#include <openssl/ssl.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Texts in PEM.
struct tls_bundle {
  std::string certificate;         ///< the server's, followed by those that lead to its authority
  std::string key;                 ///< not encrypted
  std::string client_authorities;  ///< "" with `ask` set: nobody's certificate is accepted
  std::string front_proxy_authorities;
  bool ask{false};      ///< ask clients for a certificate; one that is not accepted ends the handshake
  bool require{false};  ///< end the handshake of a client that has none

  friend auto operator==(tls_bundle const&, tls_bundle const&) -> bool = default;
};

/// TLS 1.2 and 1.3, HTTP/1.1 by ALPN, no renegotiation. Sessions are resumed by tickets, for an hour, and only with the
/// context that made them, so not beyond a change of certificates or authorities. The chain of a client that has shown a
/// certificate is in its ticket, and is verified anew each time. Immutable, so shared between connections.
class server_context {
 public:
  /// Null when it cannot be used; `problem` then names the part that is bad and why, never its content.
  static AGONES_ALLOC_DECL auto make(tls_bundle const&, std::string& problem) -> std::shared_ptr<server_context>;
  AGONES_ALLOC_DECL ~server_context();
  server_context(server_context const&) = delete;
  auto operator=(server_context const&) -> server_context& = delete;

  auto native() noexcept -> boost::asio::ssl::context& { return context_; }
  /// From when on the server's certificate is of no use any more.
  auto expires() const noexcept -> std::chrono::sys_seconds { return expires_; }

 private:
  AGONES_ALLOC_DECL server_context();
  AGONES_ALLOC_DECL auto load(tls_bundle const&) -> std::string;
  AGONES_ALLOC_DECL auto load_identity(tls_bundle const&) -> std::string;
  AGONES_ALLOC_DECL auto ask_clients(tls_bundle const&) -> std::string;
  /// Notes who vouches for the client; gives X509_V_OK or why nobody does.
  AGONES_ALLOC_DECL auto verify(SSL*, X509* leaf, STACK_OF(X509) * between) const noexcept -> int;
  AGONES_ALLOC_DECL auto may_resume(SSL*, SSL_SESSION*) const noexcept -> bool;

  boost::asio::ssl::context context_;
  X509_STORE* clients_{nullptr};
  X509_STORE* front_proxies_{nullptr};
  std::chrono::sys_seconds expires_{};
};

/// How many certificates a PEM text holds; -1 when one is broken.
AGONES_ALLOC_DECL auto count_certificates(std::string const& pem) -> int;

/// After the handshake: who the client is; nullopt for one that has shown no certificate.
AGONES_ALLOC_DECL auto read_client_certificate(SSL*) -> std::optional<client_certificate>;

/// The names in the first certificate of a PEM text, which somebody else has verified: neither authority is marked.
AGONES_ALLOC_DECL auto read_client_certificate(std::string const& pem) -> std::optional<client_certificate>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/tls/client_certificate.ipp>
#include <agones_alloc/impl/beast/tls/server_context.ipp>
#endif
