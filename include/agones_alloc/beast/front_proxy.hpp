// What a front proxy may say about who asks, and from whom it is believed (Q18).
#pragma once

#include <agones_alloc/beast/caller_identity.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Kubernetes' `--requestheader-*`: how the API server tells a server behind it who asks.
struct front_proxy_rules {
  std::vector<std::string> allowed_names{};  ///< CNs of the proxy's certificate; empty: any of its authority's
  /// The first of these fields that is there names the user, and so on.
  std::vector<std::string> username_headers{"X-Remote-User"};
  std::vector<std::string> uid_headers{"X-Remote-Uid"};
  std::vector<std::string> group_headers{"X-Remote-Group"};            ///< one field a group, all of them count
  std::vector<std::string> extra_header_prefixes{"X-Remote-Extra-"};  ///< the rest of the name is the key
  std::string authorities{};  ///< PEM, for tls_server::trust_front_proxy; not looked at by the functions below

  friend auto operator==(front_proxy_rules const&, front_proxy_rules const&) -> bool = default;
};

/// Whether the certificate is a front proxy's: of its authority, and its name among the allowed ones.
AGONES_ALLOC_DECL auto is_front_proxy(client_certificate const*, front_proxy_rules const&) -> bool;

/// Whether the field is one of those that tell who asks. Names ignore case; '_' counts as '-', as some servers have it.
AGONES_ALLOC_DECL auto is_identity_header(std::string_view name, front_proxy_rules const&) -> bool;

/// Who asks, as the fields of a request say, which has come through a front proxy; nullopt when they name no user.
AGONES_ALLOC_DECL auto read_identity_headers(http_request const&, front_proxy_rules const&)
    -> std::optional<caller_identity>;

/// Reads the ConfigMap kube-system/extension-apiserver-authentication, where an API server publishes its rules. A field
/// that is absent keeps its default; without an authority, `authorities` is "". `problem` says what is wrong; nullopt
/// then.
AGONES_ALLOC_DECL auto read_front_proxy_rules(std::string_view config_map, std::string& problem)
    -> std::optional<front_proxy_rules>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/front_proxy.ipp>
#endif
