#pragma once

#include <agones_alloc/beast/front_proxy.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/json/parse.hpp>

#include <boost/json/value.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto lowered_field_name(std::string_view name) -> std::string {
  std::string out{name};
  for (auto& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return out;
}

inline auto is_among(std::string const& lowered, std::vector<std::string> const& names) -> bool {
  return std::any_of(names.begin(), names.end(), [&](auto const& name) { return lowered_field_name(name) == lowered; });
}

/// The size of the prefix that the name begins with; 0 for none.
inline auto extra_prefix(std::string const& lowered, std::vector<std::string> const& prefixes) -> std::size_t {
  for (auto const& prefix : prefixes) {
    if (!prefix.empty() && lowered.starts_with(lowered_field_name(prefix))) return prefix.size();
  }
  return 0;
}

/// Of the first field name that is there and not empty, its first value.
inline auto first_value(std::vector<std::pair<std::string, std::string_view>> const& fields,
                        std::vector<std::string> const& names) -> std::string {
  for (auto const& name : names) {
    auto const wanted = lowered_field_name(name);
    for (auto const& [field, value] : fields) {
      if (field == wanted && !value.empty()) return std::string{value};
    }
  }
  return {};
}

/// A list of strings, which the ConfigMap holds as JSON text; false when it is none.
inline auto read_names(boost::json::object const& data, std::string_view key, std::vector<std::string>& out) -> bool {
  auto const* const at = data.if_contains(key);
  if (at == nullptr) return true;
  if (!at->is_string()) return false;
  auto const list = parse_json(std::string_view{at->as_string().data(), at->as_string().size()});
  if (!list || !list->is_array()) return false;
  std::vector<std::string> names;
  for (auto const& one : list->as_array()) {
    if (!one.is_string() || one.as_string().empty()) return false;
    names.emplace_back(one.as_string().data(), one.as_string().size());
  }
  out = std::move(names);
  return true;
}

}  // namespace detail

AGONES_ALLOC_DECL auto is_front_proxy(client_certificate const* certificate, front_proxy_rules const& rules) -> bool {
  if (certificate == nullptr || !certificate->by_front_proxy) return false;
  auto const& names = rules.allowed_names;
  return names.empty() || std::find(names.begin(), names.end(), certificate->common_name) != names.end();
}

AGONES_ALLOC_DECL auto is_identity_header(std::string_view name, front_proxy_rules const& rules) -> bool {
  auto const lowered = detail::lowered_field_name(name);
  return detail::is_among(lowered, rules.username_headers) || detail::is_among(lowered, rules.uid_headers) ||
         detail::is_among(lowered, rules.group_headers) ||
         detail::extra_prefix(lowered, rules.extra_header_prefixes) != 0;
}

AGONES_ALLOC_DECL auto read_identity_headers(http_request const& request, front_proxy_rules const& rules)
    -> std::optional<caller_identity> {
  std::vector<std::pair<std::string, std::string_view>> fields;
  request.visit_headers([&](std::string_view name, std::string_view value) {
    // Exact names here: a proxy that passes X_Remote_User on has not set it.
    if (name.find('_') == std::string_view::npos) fields.emplace_back(detail::lowered_field_name(name), value);
  });
  caller_identity out;
  out.source = identity_source::front_proxy;
  out.user = detail::first_value(fields, rules.username_headers);
  if (out.user.empty()) return std::nullopt;
  out.uid = detail::first_value(fields, rules.uid_headers);
  for (auto const& [name, value] : fields) {
    if (detail::is_among(name, rules.group_headers)) {
      if (!value.empty()) out.groups.emplace_back(value);
      continue;
    }
    auto const size = detail::extra_prefix(name, rules.extra_header_prefixes);
    if (size == 0 || size == name.size()) continue;
    auto const key = name.substr(size);
    out.extra.emplace_back(percent_decoded(key).value_or(key), value);
  }
  return out;
}

AGONES_ALLOC_DECL auto read_front_proxy_rules(std::string_view config_map, std::string& problem)
    -> std::optional<front_proxy_rules> {
  auto const document = parse_json(config_map);
  auto const* const data = document && document->is_object() ? document->as_object().if_contains("data") : nullptr;
  if (data == nullptr || !data->is_object()) {
    problem = "is no ConfigMap with data";
    return std::nullopt;
  }
  auto const& fields = data->as_object();
  front_proxy_rules out;
  if (auto const* const pem = fields.if_contains("requestheader-client-ca-file"); pem != nullptr && pem->is_string()) {
    out.authorities.assign(pem->as_string().data(), pem->as_string().size());
  }
  std::pair<std::string_view, std::vector<std::string>*> const lists[] = {
      {"requestheader-allowed-names", &out.allowed_names},
      {"requestheader-username-headers", &out.username_headers},
      {"requestheader-uid-headers", &out.uid_headers},
      {"requestheader-group-headers", &out.group_headers},
      {"requestheader-extra-headers-prefix", &out.extra_header_prefixes},
  };
  for (auto const& [key, target] : lists) {
    if (detail::read_names(fields, key, *target)) continue;
    problem = std::string{key} + " is no list of names";
    return std::nullopt;
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
