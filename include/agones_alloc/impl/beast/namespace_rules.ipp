#pragma once

#include <agones_alloc/beast/namespace_rules.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

using certificate_part = std::pair<std::string_view, namespace_rule::part>;
inline constexpr std::array<certificate_part, 5> certificate_parts{{{"CN:", namespace_rule::part::common_name},
                                                                    {"O:", namespace_rule::part::organization},
                                                                    {"DNS:", namespace_rule::part::dns},
                                                                    {"email:", namespace_rule::part::email},
                                                                    {"URI:", namespace_rule::part::uri}}};

inline auto has_name(client_certificate const& shown, namespace_rule const& rule) -> bool {
  if (rule.name == "*") return true;
  auto const in = [&rule](std::vector<std::string> const& names) {
    return std::find(names.begin(), names.end(), rule.name) != names.end();
  };
  switch (rule.of) {
    case namespace_rule::part::common_name: return shown.common_name == rule.name;
    case namespace_rule::part::organization: return in(shown.organizations);
    case namespace_rule::part::dns: return in(shown.dns_names);
    case namespace_rule::part::email: return in(shown.emails);
    case namespace_rule::part::uri: return in(shown.uris);
  }
  return false;
}

}  // namespace detail

AGONES_ALLOC_DECL auto parse_namespace_rule(std::string_view text) -> std::variant<namespace_rule, std::string> {
  // A URI may hold the sign itself, a namespace cannot.
  auto const middle = text.rfind('=');
  if (middle == std::string_view::npos) return std::string{"NAME=NAMESPACE,... is wanted"};
  auto who = text.substr(0, middle);
  auto spaces = text.substr(middle + 1);
  namespace_rule out;
  if (who != "*") {
    auto const part = std::find_if(detail::certificate_parts.begin(), detail::certificate_parts.end(),
                                   [who](auto const& one) { return who.starts_with(one.first); });
    if (part == detail::certificate_parts.end()) {
      return std::string{"a name begins with CN:, O:, DNS:, email: or URI:, or is *"};
    }
    out.of = part->second;
    who.remove_prefix(part->first.size());
  }
  if (who.empty()) return std::string{"the name is empty"};
  out.name = who;
  while (true) {
    auto const end = std::min(spaces.find(','), spaces.size());
    if (end == 0) return std::string{"a namespace is empty"};
    out.namespaces.emplace_back(spaces.substr(0, end));
    if (end == spaces.size()) return out;
    spaces.remove_prefix(end + 1);
  }
}

AGONES_ALLOC_DECL auto may_allocate(std::span<namespace_rule const> rules, http_request const& request,
                                    std::string_view space) -> bool {
  if (request.caller != nullptr && request.caller->source == identity_source::front_proxy) return true;
  auto const* const shown = request.client;
  if (shown == nullptr || !shown->by_client_authority) return false;
  return std::any_of(rules.begin(), rules.end(), [&](namespace_rule const& rule) {
    return detail::has_name(*shown, rule) && std::any_of(rule.namespaces.begin(), rule.namespaces.end(),
                                                         [space](auto const& one) { return one == "*" || one == space; });
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
