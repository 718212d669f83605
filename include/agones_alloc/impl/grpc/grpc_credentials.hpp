// Certificates for gRPC's own TLS, which change while it runs.
#pragma once

#include <agones_alloc/beast/tls/tls_server.hpp>
#include <agones_alloc/config.hpp>

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// The certificate of an authority whose key nobody has: gRPC wants one, also where none is trusted.
inline auto trusted_by_nobody() -> std::string {
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> const key{EVP_EC_gen("P-256"), &EVP_PKEY_free};
  std::unique_ptr<X509, decltype(&X509_free)> const made{X509_new(), &X509_free};
  std::unique_ptr<BIO, decltype(&BIO_free)> const out{BIO_new(BIO_s_mem()), &BIO_free};
  if (!key || !made || !out) return {};
  auto* const name = X509_get_subject_name(made.get());
  X509_set_version(made.get(), X509_VERSION_3);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -1);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 0);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<unsigned char const*>("nobody"), -1, -1, 0);
  X509_set_issuer_name(made.get(), name);
  X509_set_pubkey(made.get(), key.get());
  if (X509_sign(made.get(), key.get(), EVP_sha256()) == 0 || PEM_write_bio_X509(out.get(), made.get()) != 1) return {};
  char* bytes = nullptr;
  auto const size = BIO_get_mem_data(out.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

/// gRPC asks at each handshake whether there is something new; what it is given has been tried out before.
class grpc_credentials final : public ::grpc::ServerCredentials {
 public:
  explicit grpc_credentials(client_verification clients) {
    auto const request = [clients] {
      switch (clients) {
        case client_verification::none: break;
        case client_verification::optional: return GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
        case client_verification::required: return GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
      }
      return GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
    }();
    asks_ = clients != client_verification::none;
    options_ = grpc_ssl_server_credentials_create_options_using_config_fetcher(request, &grpc_credentials::fetch, this);
  }
  ~grpc_credentials() override {
    if (options_ != nullptr) grpc_ssl_server_credentials_options_destroy(options_);
    if (native_ != nullptr) grpc_server_credentials_release(native_);
  }
  grpc_credentials(grpc_credentials const&) = delete;
  auto operator=(grpc_credentials const&) -> grpc_credentials& = delete;

  void use(tls_bundle const& texts) {
    auto next = std::make_shared<tls_bundle const>(texts);
    std::lock_guard const lock{mutex_};
    newest_ = std::move(next);
    taken_ = false;
  }
  void SetAuthMetadataProcessor(std::shared_ptr<::grpc::AuthMetadataProcessor> const&) override {}

 private:
  auto AddPortToServer(std::string const& address, grpc_server* server) -> int override {
    native_ = grpc_ssl_server_credentials_create_with_options(std::exchange(options_, nullptr));
    return native_ == nullptr ? 0 : grpc_server_add_http2_port(server, address.c_str(), native_);
  }

  static auto fetch(void* self, grpc_ssl_server_certificate_config** out) -> grpc_ssl_certificate_config_reload_status {
    return static_cast<grpc_credentials*>(self)->fetch(out);
  }
  auto fetch(grpc_ssl_server_certificate_config** out) -> grpc_ssl_certificate_config_reload_status {
    std::shared_ptr<tls_bundle const> texts;
    {
      std::lock_guard const lock{mutex_};
      if (taken_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
      texts = newest_;
      taken_ = texts != nullptr;
    }
    if (!texts) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;
    grpc_ssl_pem_key_cert_pair const pair{texts->key.c_str(), texts->certificate.c_str()};
    bool const any = asks_ && !texts->client_authorities.empty();
    *out = grpc_ssl_server_certificate_config_create(any ? texts->client_authorities.c_str() : nobody_.c_str(), &pair, 1);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  std::mutex mutex_;
  std::shared_ptr<tls_bundle const> newest_;
  bool taken_{false};
  bool asks_{false};
  std::string nobody_{trusted_by_nobody()};
  grpc_ssl_server_credentials_options* options_{nullptr};
  grpc_server_credentials* native_{nullptr};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
