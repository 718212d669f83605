#pragma once

#include <agones_alloc/beast/webhook/webhook_signature.hpp>
#include <agones_alloc/json/base64.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::size_t least_webhook_key = 16;

inline void wipe(std::string& secret) noexcept {
  if (!secret.empty()) OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

}  // namespace detail

AGONES_ALLOC_DECL webhook_key::webhook_key(std::string bytes) : bytes_{std::move(bytes)} {}
AGONES_ALLOC_DECL webhook_key::~webhook_key() { detail::wipe(bytes_); }
AGONES_ALLOC_DECL webhook_key::webhook_key(webhook_key&& other) noexcept : bytes_{other.bytes_} { detail::wipe(other.bytes_); }
AGONES_ALLOC_DECL auto webhook_key::operator=(webhook_key&& other) noexcept -> webhook_key& {
  if (this != &other) {
    detail::wipe(bytes_);
    bytes_ = other.bytes_;
    detail::wipe(other.bytes_);
  }
  return *this;
}

AGONES_ALLOC_DECL auto read_webhook_key(std::string text) -> std::variant<webhook_key, std::string> {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  static constexpr std::string_view prefix = "whsec_";
  if (text.starts_with(prefix)) {
    auto bytes = decode_base64(std::string_view{text}.substr(prefix.size()));
    detail::wipe(text);
    if (!bytes) return std::string{"what follows whsec_ is not base64"};
    text = *std::move(bytes);
  }
  if (text.size() < detail::least_webhook_key) {
    detail::wipe(text);
    return std::string{"a key has 16 bytes or more"};
  }
  return webhook_key{std::move(text)};
}

AGONES_ALLOC_DECL auto webhook_signature(webhook_key const& key, std::string_view id, std::int64_t seconds,
                                         std::string_view body) -> std::string {
  std::string content{id};
  content += '.';
  content += std::to_string(seconds);
  content += '.';
  content += body;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  auto const bytes = key.bytes();
  auto const* const made =
      HMAC(EVP_sha256(), bytes.data(), static_cast<int>(bytes.size()),
           reinterpret_cast<unsigned char const*>(content.data()), content.size(), digest.data(), &size);
  if (made == nullptr) return {};
  return "v1," + encode_base64({reinterpret_cast<char const*>(digest.data()), size});
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
