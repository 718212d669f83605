// Kubernetes' rules for label keys, label values and their prefixes (spec 2.5).
#pragma once

#include <agones_alloc/config.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Each returns the problems' texts as Kubernetes words them; empty: valid. Pure.

/// A label or annotation key: `[prefix/]name`.
AGONES_ALLOC_DECL auto qualified_name_problems(std::string_view) -> std::vector<std::string>;
AGONES_ALLOC_DECL auto label_value_problems(std::string_view) -> std::vector<std::string>;
/// A lowercase DNS-1123 subdomain: the prefix of a key, the name of most objects.
AGONES_ALLOC_DECL auto dns_subdomain_problems(std::string_view) -> std::vector<std::string>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/select/kubernetes_names.ipp>
#endif
