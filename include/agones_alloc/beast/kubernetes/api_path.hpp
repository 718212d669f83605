// Targets of requests to an API server.
#pragma once

#include <agones_alloc/config.hpp>

#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// One kind of object, as an API server serves it.
struct api_resource {
  std::string_view group_version;  ///< `agones.dev/v1`; `v1` for the core group
  std::string_view plural;         ///< `gameservers`
};

/// Every byte but letters, digits and -._~ as %XX.
AGONES_ALLOC_DECL auto percent_encoded(std::string_view) -> std::string;

/// `/apis/agones.dev/v1/namespaces/<ns>/gameservers`, `/api/v1/nodes`. `ns` "": all namespaces, or a kind without.
AGONES_ALLOC_DECL auto collection_path(api_resource const&, std::string_view ns) -> std::string;
AGONES_ALLOC_DECL auto object_path(api_resource const&, std::string_view ns, std::string_view name) -> std::string;

/// Appends `?name=value` or `&name=value`; the value is encoded, the name is taken as it is.
AGONES_ALLOC_DECL void add_query(std::string& target, std::string_view name, std::string_view value);

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/kubernetes/api_path.ipp>
#endif
