#pragma once

#include <agones_alloc/beast/client/tls_context.hpp>
#include <agones_alloc/beast/remote/client_bundle.hpp>
#include <agones_alloc/beast/tls/server_context.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto entry_of(secret_data const& secret, std::string_view key) -> std::string {
  auto const found = secret.entries.find(key);
  return found == secret.entries.end() ? std::string{} : found->second;
}

inline void add_pem(std::string& to, std::string_view pem) {
  if (!to.empty() && !to.ends_with('\n')) to += '\n';
  to += pem;
}

/// OpenSSL would ask at the terminal for the passphrase of such a key.
inline auto is_encrypted(std::string_view key) noexcept -> bool {
  return key.find("BEGIN ENCRYPTED PRIVATE KEY") != std::string_view::npos ||
         key.find("Proc-Type: 4,ENCRYPTED") != std::string_view::npos;
}

}  // namespace detail

AGONES_ALLOC_DECL auto make_trust_bundle(std::string_view server_ca, tls_identity& out) -> std::string {
  if (!server_ca.empty() && detail::count_certificates(std::string{server_ca}) < 1) {
    return "only PEM format is accepted for server CA";
  }
  detail::add_pem(out.ca_pem, server_ca);
  return {};
}

AGONES_ALLOC_DECL auto make_client_bundle(secret_data const& secret, std::string_view secret_name,
                                          std::string_view server_ca, tls_identity& out) -> std::string {
  std::string const name{secret_name};
  if (secret.entries.empty()) return "secret " + name + " does not have data";
  tls_identity made;
  made.certificate_pem = detail::entry_of(secret, "tls.crt");
  made.key_pem = detail::entry_of(secret, "tls.key");
  if (made.certificate_pem.empty() || made.key_pem.empty()) {
    return "missing client certificate key pair in secret " + name;
  }
  auto const of = "secret " + name + ": ";
  if (detail::count_certificates(made.certificate_pem) < 1) {
    return of + "tls.crt: failed to find any PEM data in certificate input, or a certificate is broken";
  }
  if (detail::is_encrypted(made.key_pem)) return of + "tls.key: is encrypted; a key without a passphrase is wanted";
  if (auto const ca = detail::entry_of(secret, "ca.crt"); !ca.empty()) {
    if (detail::count_certificates(ca) < 1) return of + "ca.crt: holds no certificate in PEM, or a broken one";
    detail::add_pem(made.ca_pem, ca);
  }
  if (auto problem = make_trust_bundle(server_ca, made); !problem.empty()) return problem;
  std::string what;
  if (auto const usable = detail::tls_context::make(made, "any.example", what); !usable) {
    return of + what + ": " + usable.error().message();
  }
  made.server_name = out.server_name;
  out = std::move(made);
  return {};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
