#pragma once

#include <agones_alloc/beast/client/tls_context.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline auto last_tls_error() noexcept -> error_code {
  auto const code = ERR_get_error();
  if (code == 0) return errc::invalid_request;
  return {static_cast<int>(code), boost::asio::error::get_ssl_category()};
}

/// Where a context of OpenSSL keeps the pointer to ours. Asio uses the slot for applications itself.
inline auto tls_context_index() noexcept -> int {
  static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

AGONES_ALLOC_DECL tls_context::tls_context(tls_identity identity, std::string const& host)
    : identity_{std::move(identity)},
      name_{identity_.server_name.empty() ? host : identity_.server_name},
      context_{boost::asio::ssl::context::tls_client} {}

AGONES_ALLOC_DECL tls_context::~tls_context() {
  // Connections that are still closing hold OpenSSL's context longer than this.
  SSL_CTX_set_ex_data(context_.native_handle(), tls_context_index(), nullptr);
  SSL_SESSION_free(session_);
}

AGONES_ALLOC_DECL auto tls_context::make(tls_identity identity, std::string const& host, std::string& what)
    -> result<std::shared_ptr<tls_context>> {
  std::shared_ptr<tls_context> out{new tls_context{std::move(identity), host}};
  ERR_clear_error();
  if (auto const ec = out->load(what)) return ec;
  return out;
}

AGONES_ALLOC_DECL auto tls_context::load(std::string& what) -> error_code {
  namespace asio = boost::asio;
  auto* const native = context_.native_handle();
  error_code ec;
  what = "TLS settings";
  if (SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) != 1) return last_tls_error();
  static constexpr unsigned char protocols[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  if (SSL_CTX_set_alpn_protos(native, protocols, sizeof protocols) != 0) return last_tls_error();

  what = "certificate authority";
  context_.set_verify_mode(identity_.insecure_skip_verify ? asio::ssl::verify_none : asio::ssl::verify_peer, ec);
  if (!ec && !identity_.insecure_skip_verify) {
    if (identity_.ca_pem.empty()) {
      context_.set_default_verify_paths(ec);
    } else {
      context_.add_certificate_authority(asio::buffer(identity_.ca_pem), ec);
    }
  }
  if (ec) return ec;

  if (!identity_.certificate_pem.empty()) {
    what = "client certificate";
    context_.use_certificate_chain(asio::buffer(identity_.certificate_pem), ec);
    if (ec) return ec;
    what = "client key";
    context_.use_private_key(asio::buffer(identity_.key_pem), asio::ssl::context::pem, ec);
    if (ec) return ec;
    if (SSL_CTX_check_private_key(native) != 1) return last_tls_error();
  }
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_set_ex_data(native, tls_context_index(), this);
  SSL_CTX_sess_set_new_cb(native, [](SSL* ssl, SSL_SESSION* session) -> int {
    auto* const context = static_cast<tls_context*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), tls_context_index()));
    if (context == nullptr) return 0;
    context->keep(session);
    return 1;
  });
  what.clear();
  return {};
}

AGONES_ALLOC_DECL auto tls_context::prepare(SSL* ssl) -> error_code {
  ERR_clear_error();
  error_code ec;
  boost::asio::ip::make_address(name_, ec);
  bool const is_address = !ec;
  if (is_address) {
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name_.c_str()) != 1) return last_tls_error();
  } else {
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (SSL_set1_host(ssl, name_.c_str()) != 1) return last_tls_error();
    if (SSL_set_tlsext_host_name(ssl, name_.c_str()) != 1) return last_tls_error();
  }
  // A resumed session goes without the server's certificate, which must not outlive its time so.
  auto* const shown = session_ == nullptr ? nullptr : SSL_SESSION_get0_peer(session_);
  bool const good = shown != nullptr && X509_cmp_current_time(X509_get0_notAfter(shown)) > 0;
  if (good && SSL_SESSION_is_resumable(session_) == 1) SSL_set_session(ssl, session_);
  return {};
}

AGONES_ALLOC_DECL void tls_context::keep(SSL_SESSION* session) noexcept {
  SSL_SESSION_free(session_);
  session_ = session;
}

AGONES_ALLOC_DECL auto is_handshake_alert(error_code const& ec) noexcept -> bool {
  if (ec.category() != boost::asio::error::get_ssl_category()) return false;
  switch (ERR_GET_REASON(static_cast<unsigned long>(ec.value()))) {
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_SSLV3_ALERT_NO_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: return true;
    default: return false;
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
