// Validation of an allocation (spec 2.3 and 2.4).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/select/kubernetes_names.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Every problem of a defaulted request, in the reference's detection order, maps by key. Empty: valid.
AGONES_ALLOC_DECL auto validate(game_server_allocation const&, feature_gates) -> field_errors;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/select/validate.ipp>
#endif
