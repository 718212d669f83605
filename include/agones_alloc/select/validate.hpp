// Validation of an allocation and of Kubernetes names (spec 2.3 to 2.5).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/model/field_error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Every problem of a defaulted request, in the reference's detection order, maps by key. Empty: valid.
AGONES_ALLOC_DECL auto validate(game_server_allocation const&, feature_gates) -> field_errors;

/// Texts of spec 2.5; empty: valid.
AGONES_ALLOC_DECL auto qualified_name_problems(std::string_view) -> std::vector<std::string>;
AGONES_ALLOC_DECL auto label_value_problems(std::string_view) -> std::vector<std::string>;
AGONES_ALLOC_DECL auto dns_subdomain_problems(std::string_view) -> std::vector<std::string>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/select/validate.ipp>
#endif
