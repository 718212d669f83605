#pragma once

#include <agones_alloc/beast/tls/server_context.hpp>
#include <agones_alloc/impl/beast/tls/client_certificate.ipp>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509err.h>

#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline auto tls_failure(std::string_view what) -> std::string {
  auto const code = ERR_get_error();
  ERR_clear_error();
  auto const* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return std::string{what} + ": " + (reason == nullptr ? "cannot be used" : reason);
}

/// Calls `take` with each certificate of the text; gives their number, or -1 when one is broken or not taken.
template <class Take>
auto each_certificate(std::string const& pem, Take&& take) -> int {
  auto* const memory = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  std::unique_ptr<BIO, decltype(&BIO_free)> const in{memory, &BIO_free};
  int count = 0;
  for (;; ++count) {
    auto* const read = PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr);
    std::unique_ptr<X509, decltype(&X509_free)> const one{read, &X509_free};
    if (!one) break;
    if (!take(one.get())) return -1;
  }
  bool const at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (at_end) ERR_clear_error();
  return at_end ? count : -1;
}

inline auto add_authorities(X509_STORE* pool, STACK_OF(X509_NAME) * names, std::string const& pem) -> int {
  return each_certificate(pem, [&](X509* one) {
    if (X509_STORE_add_cert(pool, one) != 1) return false;
    auto* const name = X509_NAME_dup(X509_get_subject_name(one));
    if (name != nullptr && sk_X509_NAME_push(names, name) != 0) return true;
    X509_NAME_free(name);
    return false;
  });
}

AGONES_ALLOC_DECL auto count_certificates(std::string const& pem) -> int {
  ERR_clear_error();
  int const out = each_certificate(pem, [](X509*) { return true; });
  ERR_clear_error();
  return out;
}

/// `between`: what the client has sent besides its own; may be null.
inline auto is_verified_by(X509_STORE* pool, X509* leaf, STACK_OF(X509) * between, int& problem) -> bool {
  if (pool == nullptr) return false;
  std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> const own{X509_STORE_CTX_new(), &X509_STORE_CTX_free};
  if (!own || X509_STORE_CTX_init(own.get(), pool, leaf, between) != 1 ||
      X509_STORE_CTX_set_default(own.get(), "ssl_client") != 1) {
    problem = X509_V_ERR_OUT_OF_MEM;
    return false;
  }
  if (X509_verify_cert(own.get()) == 1) return true;
  problem = X509_STORE_CTX_get_error(own.get());
  return false;
}

/// What leads from the client's certificate to its authority goes into the ticket. One without is not resumed.
inline void put_chain(SSL* ssl) noexcept {
  if (SSL_session_reused(ssl) == 1) return;  // it has come with its ticket
  auto* const chain = SSL_get_peer_cert_chain(ssl);
  std::vector<unsigned char> out;
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    auto* const one = sk_X509_value(chain, i);
    auto const size = i2d_X509(one, nullptr);
    if (size <= 0) return;
    auto const before = out.size();
    out.resize(before + static_cast<std::size_t>(size));
    auto* to = out.data() + before;
    i2d_X509(one, &to);
  }
  SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), out.data(), out.size());
}

AGONES_ALLOC_DECL server_context::server_context() : context_{boost::asio::ssl::context::tls_server} {}

AGONES_ALLOC_DECL server_context::~server_context() {
  X509_STORE_free(clients_);
  X509_STORE_free(front_proxies_);
}

AGONES_ALLOC_DECL auto server_context::make(tls_bundle const& bundle, std::string& problem)
    -> std::shared_ptr<server_context> {
  std::shared_ptr<server_context> out{new server_context};
  ERR_clear_error();
  problem = out->load(bundle);
  ERR_clear_error();
  return problem.empty() ? out : nullptr;
}

AGONES_ALLOC_DECL auto server_context::load(tls_bundle const& bundle) -> std::string {
  auto* const native = context_.native_handle();
  static constexpr char const* ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL";
  static constexpr unsigned char resumable[] = "agones_alloc";
  static constexpr long ticket_seconds = 60L * 60L;
  // A ticket, of 64 KiB at most, holds it all.
  static constexpr long chain_bytes = 32L * 1024L;
  if (SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) != 1 || SSL_CTX_set_cipher_list(native, ciphers) != 1 ||
      SSL_CTX_set_session_id_context(native, resumable, sizeof resumable) != 1) {
    return tls_failure("TLS settings");
  }
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_max_cert_list(native, chain_bytes);
  // Sessions live in tickets only, whose keys are this context's own: none of an earlier bundle can be read.
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_timeout(native, ticket_seconds);
  SSL_CTX_set_num_tickets(native, 1);
  // A client that offers protocols, and HTTP/1.1 not among them, could not be understood.
  SSL_CTX_set_alpn_select_cb(
      native,
      [](SSL*, unsigned char const** out, unsigned char* size, unsigned char const* offered, unsigned length,
         void*) -> int {
        static constexpr unsigned char spoken[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
        unsigned char* chosen = nullptr;
        if (SSL_select_next_proto(&chosen, size, spoken, sizeof spoken, offered, length) != OPENSSL_NPN_NEGOTIATED) {
          return SSL_TLSEXT_ERR_ALERT_FATAL;
        }
        *out = chosen;
        return SSL_TLSEXT_ERR_OK;
      },
      nullptr);
  if (auto problem = load_identity(bundle); !problem.empty()) return problem;
  return bundle.ask || !bundle.front_proxy_authorities.empty() ? ask_clients(bundle) : std::string{};
}

AGONES_ALLOC_DECL auto server_context::load_identity(tls_bundle const& bundle) -> std::string {
  auto* const native = context_.native_handle();
  boost::system::error_code ec;
  context_.use_certificate_chain(boost::asio::buffer(bundle.certificate), ec);
  if (ec) return "certificate: " + ec.message();
  if (bundle.key.find("ENCRYPTED") != std::string::npos) {
    return "key: is encrypted; a key without a pass phrase is wanted (openssl pkey writes one)";
  }
  // Without it OpenSSL would ask at the terminal.
  SSL_CTX_set_default_passwd_cb(native, [](char*, int, int, void*) { return -1; });
  context_.use_private_key(boost::asio::buffer(bundle.key), boost::asio::ssl::context::pem, ec);
  bool const mismatched = ERR_GET_REASON(static_cast<unsigned long>(ec.value())) == X509_R_KEY_VALUES_MISMATCH;
  if (ec && !mismatched) return "key: " + ec.message();
  if (ec || SSL_CTX_check_private_key(native) != 1) return "key: does not belong to the certificate";
  std::tm until{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(native)), &until) == 1) {
    expires_ = std::chrono::sys_seconds{std::chrono::seconds{timegm(&until)}};
  }
  return {};
}

AGONES_ALLOC_DECL auto server_context::ask_clients(tls_bundle const& bundle) -> std::string {
  auto* const native = context_.native_handle();
  auto* const names = sk_X509_NAME_new_null();
  SSL_CTX_set_client_CA_list(native, names);  // takes it over
  clients_ = X509_STORE_new();
  front_proxies_ = X509_STORE_new();
  if (names == nullptr || clients_ == nullptr || front_proxies_ == nullptr) return tls_failure("client authorities");
  if (add_authorities(clients_, names, bundle.client_authorities) < 0) return tls_failure("client authorities");
  int const proxies = add_authorities(front_proxies_, names, bundle.front_proxy_authorities);
  if (proxies < 0 || (proxies == 0 && !bundle.front_proxy_authorities.empty())) {
    return tls_failure("front proxy's authorities");
  }
  SSL_CTX_set_verify(native, SSL_VERIFY_PEER | (bundle.require ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nullptr);
  SSL_CTX_set_cert_verify_callback(
      native,
      [](X509_STORE_CTX* asked, void* self) -> int {
        auto* const ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(asked, SSL_get_ex_data_X509_STORE_CTX_idx()));
        auto const problem = static_cast<server_context const*>(self)->verify(ssl, X509_STORE_CTX_get0_cert(asked),
                                                                              X509_STORE_CTX_get0_untrusted(asked));
        X509_STORE_CTX_set_error(asked, problem);
        return problem == X509_V_OK ? 1 : 0;
      },
      this);
  // OpenSSL does not verify the client of a resumed session, and keeps no more than its own certificate.
  SSL_CTX_set_session_ticket_cb(
      native, [](SSL* ssl, void*) -> int { return put_chain(ssl), 1; },
      [](SSL* ssl, SSL_SESSION* session, unsigned char const*, std::size_t, SSL_TICKET_STATUS read, void* self) -> int {
        bool const readable = read == SSL_TICKET_SUCCESS || read == SSL_TICKET_SUCCESS_RENEW;
        return readable && static_cast<server_context const*>(self)->may_resume(ssl, session)
                   ? SSL_TICKET_RETURN_USE_RENEW
                   : SSL_TICKET_RETURN_IGNORE_RENEW;
      },
      this);
  return {};
}

// Each pool by itself: which of them vouches for a client is what decides on its rights.
AGONES_ALLOC_DECL auto server_context::verify(SSL* ssl, X509* leaf, STACK_OF(X509) * between) const noexcept -> int {
  int problem = X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY;
  int other_problem = problem;
  std::uintptr_t verified = 0;
  if (is_verified_by(clients_, leaf, between, problem)) verified |= verified_clients;
  if (is_verified_by(front_proxies_, leaf, between, other_problem)) verified |= verified_front_proxy;
  if (verified == 0) {
    bool const unknown_to_first = problem == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
                                  problem == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE;
    return unknown_to_first ? other_problem : problem;
  }
  bool const noted = SSL_set_ex_data(ssl, verified_index(), reinterpret_cast<void*>(verified)) == 1;
  return noted ? X509_V_OK : X509_V_ERR_OUT_OF_MEM;
}

AGONES_ALLOC_DECL auto server_context::may_resume(SSL* ssl, SSL_SESSION* session) const noexcept -> bool {
  auto* const leaf = SSL_SESSION_get0_peer(session);
  if (leaf == nullptr) return true;  // nobody was verified
  void* bytes = nullptr;
  std::size_t size = 0;
  if (SSL_SESSION_get0_ticket_appdata(session, &bytes, &size) != 1) return false;
  auto const free_all = [](STACK_OF(X509) * all) { sk_X509_pop_free(all, X509_free); };
  std::unique_ptr<STACK_OF(X509), decltype(free_all)> const between{sk_X509_new_null(), free_all};
  if (!between) return false;
  auto const* at = static_cast<unsigned char const*>(bytes);
  for (auto const* const end = at + size; at != end;) {
    auto* const one = d2i_X509(nullptr, &at, static_cast<long>(end - at));
    if (one == nullptr || sk_X509_push(between.get(), one) == 0) {
      X509_free(one);
      return false;
    }
  }
  bool const verified = verify(ssl, leaf, between.get()) == X509_V_OK;
  ERR_clear_error();
  return verified;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
