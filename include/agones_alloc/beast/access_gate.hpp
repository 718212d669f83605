// Lets requests of direct callers through as far as the API server's own authorization goes.
#pragma once

#include <agones_alloc/beast/access_review.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>

#include <functional>
#include <optional>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Stands behind an `identity_gate` that lets anybody through. What a front proxy has sent goes on: the API server has
/// authorized it. Who has shown a certificate is authorized by its name, everybody else needs a bearer token
/// (`Authorization: Bearer ...`) that is known, and is authorized by its holder's name, which the handler finds in
/// `caller`.
///
/// Others get a Status: 401 without a token that counts, 403 who may not, 429 and 503 with a Retry-After while that cannot
/// be found out, 500 when this program may not ask. Nobody is let through on a doubt.
///
/// Confined to the listener's executor. Handler and review must outlive it and its requests.
class access_gate final : public http_handler {
 public:
  /// The namespace that a request is about to allocate in, "" for all; nullopt: it cannot allocate, so that it is
  /// enough to know who asks.
  using namespace_finder = std::function<std::optional<std::string>(http_request const&)>;

  AGONES_ALLOC_DECL access_gate(http_handler& behind, access_review&, namespace_finder);
  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

 private:
  http_handler* behind_;
  access_review* review_;
  namespace_finder namespace_of_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/access_gate.ipp>
#endif
