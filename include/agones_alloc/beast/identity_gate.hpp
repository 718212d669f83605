// Lets requests through to a handler whose callers have shown who they are.
#pragma once

#include <agones_alloc/beast/front_proxy.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>

#include <memory>
#include <optional>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct identity_gate_options {
  /// Who is believed to speak for others; nullopt: nobody is, and identity fields of the default names are dropped.
  std::optional<front_proxy_rules> front_proxy{};
  bool certificates{false};  ///< a certificate of a client authority is enough: its CN is the user, its Os the groups
  bool anybody{false};       ///< everybody else is let through, as anonymous
};

/// The request that gets through has `caller` set, and none of the fields that tell who asks: those of a front proxy
/// have been read, anybody else's are worth nothing. Others get a Status: 401 without a certificate that counts, or
/// when a front proxy names no user; 403 when the certificate is good, but not one that may do this.
///
/// Confined to the listener's executor. The handler must outlive it and its requests.
class identity_gate final : public http_handler {
 public:
  AGONES_ALLOC_DECL identity_gate(http_handler& behind, identity_gate_options);
  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

  /// For requests from now on.
  AGONES_ALLOC_DECL void use(front_proxy_rules);

 private:
  http_handler* behind_;
  identity_gate_options options_;
  std::shared_ptr<front_proxy_rules const> hidden_;  ///< whose fields are kept from the handler
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/identity_gate.ipp>
#endif
