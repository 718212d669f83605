#pragma once

#include <agones_alloc/beast/tls/server_context.hpp>

#include <boost/asio/ip/address.hpp>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Where a connection of OpenSSL keeps which pools have verified its client: verified_clients, verified_front_proxy.
inline auto verified_index() noexcept -> int {
  static int const index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}
inline constexpr std::uintptr_t verified_clients = 1;
inline constexpr std::uintptr_t verified_front_proxy = 2;

/// A name with a zero in it may look like another one: it counts as none.
inline void add_name(std::vector<std::string>& out, unsigned char const* bytes, int size) {
  if (bytes == nullptr || size <= 0) return;
  std::string_view const text{reinterpret_cast<char const*>(bytes), static_cast<std::size_t>(size)};
  if (text.find('\0') == std::string_view::npos) out.emplace_back(text);
}

inline auto subject_values(X509* certificate, int what) -> std::vector<std::string> {
  std::vector<std::string> out;
  auto* const name = X509_get_subject_name(certificate);
  for (int at = X509_NAME_get_index_by_NID(name, what, -1); at >= 0; at = X509_NAME_get_index_by_NID(name, what, at)) {
    unsigned char* utf8 = nullptr;
    int const size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    add_name(out, utf8, size);
    OPENSSL_free(utf8);
  }
  return out;
}

inline void add_address(std::vector<std::string>& out, unsigned char const* bytes, int size) {
  if (size == 4) {
    boost::asio::ip::address_v4::bytes_type raw;
    std::copy_n(bytes, raw.size(), raw.begin());
    out.push_back(boost::asio::ip::make_address_v4(raw).to_string());
  } else if (size == 16) {
    boost::asio::ip::address_v6::bytes_type raw;
    std::copy_n(bytes, raw.size(), raw.begin());
    out.push_back(boost::asio::ip::make_address_v6(raw).to_string());
  }
}

inline void read_alternative_names(X509* certificate, client_certificate& out) {
  auto* const found =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> const names{found, &GENERAL_NAMES_free};
  int const count = names ? sk_GENERAL_NAME_num(names.get()) : 0;
  for (int i = 0; i < count; ++i) {
    int kind = 0;
    void const* const value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &kind);
    auto const* const text = static_cast<ASN1_STRING const*>(value);
    switch (kind) {
      case GEN_DNS: add_name(out.dns_names, ASN1_STRING_get0_data(text), ASN1_STRING_length(text)); break;
      case GEN_EMAIL: add_name(out.emails, ASN1_STRING_get0_data(text), ASN1_STRING_length(text)); break;
      case GEN_URI: add_name(out.uris, ASN1_STRING_get0_data(text), ASN1_STRING_length(text)); break;
      case GEN_IPADD: add_address(out.addresses, ASN1_STRING_get0_data(text), ASN1_STRING_length(text)); break;
      default: break;
    }
  }
}

inline auto names_of(X509* certificate) -> client_certificate {
  client_certificate out;
  // The last one counts, as in Go: of several, the most specific.
  auto names = subject_values(certificate, NID_commonName);
  if (!names.empty()) out.common_name = std::move(names.back());
  out.organizations = subject_values(certificate, NID_organizationName);
  read_alternative_names(certificate, out);
  return out;
}

AGONES_ALLOC_DECL auto read_client_certificate(std::string const& pem) -> std::optional<client_certificate> {
  auto* const memory = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  std::unique_ptr<BIO, decltype(&BIO_free)> const in{memory, &BIO_free};
  auto* const read = PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr);
  std::unique_ptr<X509, decltype(&X509_free)> const certificate{read, &X509_free};
  ERR_clear_error();
  if (!certificate) return std::nullopt;
  return names_of(certificate.get());
}

AGONES_ALLOC_DECL auto read_client_certificate(SSL* ssl) -> std::optional<client_certificate> {
  auto* const certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) return std::nullopt;
  auto out = names_of(certificate);
  auto const verified = reinterpret_cast<std::uintptr_t>(SSL_get_ex_data(ssl, verified_index()));
  out.by_client_authority = (verified & verified_clients) != 0;
  out.by_front_proxy = (verified & verified_front_proxy) != 0;
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
