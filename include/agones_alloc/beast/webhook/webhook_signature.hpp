// How a webhook's receiver knows that a delivery is ours: the signature of Standard Webhooks.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What is secret: never printed, overwritten when it is let go.
class webhook_key {
 public:
  webhook_key() = default;
  AGONES_ALLOC_DECL explicit webhook_key(std::string bytes);
  AGONES_ALLOC_DECL ~webhook_key();
  AGONES_ALLOC_DECL webhook_key(webhook_key&& other) noexcept;
  AGONES_ALLOC_DECL auto operator=(webhook_key&& other) noexcept -> webhook_key&;
  webhook_key(webhook_key const&) = delete;
  auto operator=(webhook_key const&) -> webhook_key& = delete;

  auto empty() const noexcept -> bool { return bytes_.empty(); }
  auto bytes() const noexcept -> std::string_view { return bytes_; }

 private:
  std::string bytes_;
};

/// The key in a file's text: `whsec_` and base64 of 16 bytes or more, or 16 bytes or more as they are but for the end of the
/// line. Or what is wrong, without its content.
AGONES_ALLOC_DECL auto read_webhook_key(std::string text) -> std::variant<webhook_key, std::string>;

/// Of the field `webhook-signature`: `v1,` and the base64 of the HMAC-SHA256 of `<id>.<seconds>.<body>`. "" when the
/// system's cryptography fails.
AGONES_ALLOC_DECL auto webhook_signature(webhook_key const&, std::string_view id, std::int64_t seconds, std::string_view body)
    -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/webhook/webhook_signature.ipp>
#endif
