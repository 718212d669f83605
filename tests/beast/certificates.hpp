// Keys and certificates made for a test.
#pragma once

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace beast_test {

template <auto Free>
struct freed {
  template <class T>
  void operator()(T* what) const {
    Free(what);
  }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freed<EVP_PKEY_free>>;
using x509_ptr = std::unique_ptr<X509, freed<X509_free>>;

template <class Write>
auto pem_of(Write&& write) -> std::string {
  std::unique_ptr<BIO, freed<BIO_free>> const bio{BIO_new(BIO_s_mem())};
  if (write(bio.get()) != 1) throw std::runtime_error{"cannot write PEM"};
  char* bytes = nullptr;
  auto const size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

struct certificate_wish {
  std::string name;
  std::string alternative;  ///< such as "DNS:localhost,IP:127.0.0.1"
  long valid_from{-3600};   ///< seconds from now
  long valid_to{3600};
  std::string organization{};
  std::string usage{};  ///< extended, such as "serverAuth"; "" for none said
  bool rsa{false};      ///< its key; else one of an elliptic curve
};

/// An authority and what it signs.
class certificate_authority {
 public:
  struct pair {
    std::string certificate, key;  ///< PEM
  };

  explicit certificate_authority(std::string const& name)
      : key_{EVP_EC_gen("P-256")}, own_{make({name, {}}, *key_, true, nullptr)} {}
  /// One whose certificate is issued by `above`.
  certificate_authority(std::string const& name, certificate_authority& above)
      : key_{EVP_EC_gen("P-256")}, own_{above.make({name, {}}, *key_, true, above.own_.get())} {}

  auto pem() const -> std::string {
    return pem_of([this](BIO* bio) { return PEM_write_bio_X509(bio, own_.get()); });
  }
  auto issue(certificate_wish const& wish) -> pair {
    key_ptr const key{wish.rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256")};
    auto const made = make(wish, *key, false, own_.get());
    return {pem_of([&](BIO* bio) { return PEM_write_bio_X509(bio, made.get()); }),
            pem_of([&](BIO* bio) { return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr); })};
  }

 private:
  /// `issuer`: null for its own.
  auto make(certificate_wish const& wish, EVP_PKEY& key, bool authority, X509* issuer) -> x509_ptr {
    x509_ptr out{X509_new()};
    X509_set_version(out.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(out.get()), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(out.get()), wish.valid_from);
    X509_gmtime_adj(X509_getm_notAfter(out.get()), wish.valid_to);
    X509_set_pubkey(out.get(), &key);
    auto* const name = X509_get_subject_name(out.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<unsigned char const*>(wish.name.c_str()), -1, -1, 0);
    if (!wish.organization.empty()) {
      X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC, reinterpret_cast<unsigned char const*>(wish.organization.c_str()), -1, -1, 0);
    }
    X509_set_issuer_name(out.get(), issuer == nullptr ? name : X509_get_subject_name(issuer));
    extend(*out, NID_basic_constraints, authority ? "critical,CA:TRUE" : "CA:FALSE");
    if (!wish.alternative.empty()) extend(*out, NID_subject_alt_name, wish.alternative);
    if (!wish.usage.empty()) extend(*out, NID_ext_key_usage, wish.usage);
    if (X509_sign(out.get(), key_.get(), EVP_sha256()) == 0) throw std::runtime_error{"cannot sign"};
    return out;
  }
  void extend(X509& certificate, int what, std::string const& value) {
    std::unique_ptr<X509_EXTENSION, freed<X509_EXTENSION_free>> const one{
        X509V3_EXT_conf_nid(nullptr, nullptr, what, value.c_str())};
    if (!one || X509_add_ext(&certificate, one.get(), -1) != 1) throw std::runtime_error{"bad extension " + value};
  }

  long serial_{0};
  key_ptr key_;
  x509_ptr own_;
};

}  // namespace beast_test
