#pragma once

#include <agones_alloc/beast/kubernetes/api_path.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto percent_encoded(std::string_view text) -> std::string {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (char const c : text) {
    bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      auto const byte = static_cast<unsigned char>(c);
      out += '%';
      out += digits[byte >> 4U];
      out += digits[byte & 15U];
    }
  }
  return out;
}

AGONES_ALLOC_DECL auto collection_path(api_resource const& resource, std::string_view ns) -> std::string {
  // The core group is the one without a name.
  std::string out{resource.group_version.find('/') == std::string_view::npos ? "/api/" : "/apis/"};
  out += resource.group_version;
  if (!ns.empty()) out += "/namespaces/" + percent_encoded(ns);
  out += '/';
  out += resource.plural;
  return out;
}

AGONES_ALLOC_DECL auto object_path(api_resource const& resource, std::string_view ns, std::string_view name)
    -> std::string {
  return collection_path(resource, ns) + '/' + percent_encoded(name);
}

AGONES_ALLOC_DECL void add_query(std::string& target, std::string_view name, std::string_view value) {
  target += target.find('?') == std::string::npos ? '?' : '&';
  target += name;
  target += '=';
  target += percent_encoded(value);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
