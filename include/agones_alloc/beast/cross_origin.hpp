// Lets pages of other hosts read what is behind it, where that is asked for (CORS).
#pragma once

#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// The request's `Origin`, if it is one of those; "" otherwise. Compared as text: `https://play.example`.
AGONES_ALLOC_DECL auto allowed_origin(http_request const&, std::span<std::string const>) -> std::string;

/// Whether browsers send such an `Origin`: scheme and host in lower case, a port that is not the scheme's own, and nothing else.
AGONES_ALLOC_DECL auto is_origin(std::string_view) -> bool;

/// Answers the browser's question in advance (OPTIONS), and adds the fields that let the page read an answer, for these
/// origins only; all else goes through as it is. Never with credentials: certificates and cookies are not sent along.
///
/// Confined to the listener's executor. The handler must outlive it and its requests.
class cross_origin final : public http_handler {
 public:
  cross_origin(http_handler& behind, std::vector<std::string> origins) : behind_{&behind}, origins_{std::move(origins)} {}
  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

 private:
  http_handler* behind_;
  std::vector<std::string> origins_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cross_origin.ipp>
#endif
