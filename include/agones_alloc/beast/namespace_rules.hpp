// Which client certificate may allocate in which namespaces.
#pragma once

#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Certificates with that name may allocate in these namespaces.
struct namespace_rule {
  enum class part : std::uint8_t { common_name, organization, dns, email, uri };
  part of{part::common_name};
  std::string name;                     ///< the whole of it; "*": any certificate
  std::vector<std::string> namespaces;  ///< "*": all
  friend auto operator==(namespace_rule const&, namespace_rule const&) -> bool = default;
};

/// `CN:east=games,lobby`; also `O:`, `DNS:`, `email:` and `URI:`, and `*=games` for any certificate. Or why not.
AGONES_ALLOC_DECL auto parse_namespace_rule(std::string_view text) -> std::variant<namespace_rule, std::string>;

/// Whether any rule lets the request's sender in. One whom a front proxy vouches for is let in by all: the API server
/// has looked at their rights. Without a certificate nobody is.
AGONES_ALLOC_DECL auto may_allocate(std::span<namespace_rule const>, http_request const&, std::string_view space) -> bool;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/namespace_rules.ipp>
#endif
