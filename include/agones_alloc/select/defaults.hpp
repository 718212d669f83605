// Defaults and the conversion of deprecated fields (spec 2.2).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/feature_gates.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL void apply_defaults(game_server_selector&, feature_gates);
AGONES_ALLOC_DECL void apply_defaults(game_server_allocation&, feature_gates);
/// If `selectors` is empty: all of `preferred`, then `required`. After validation.
AGONES_ALLOC_DECL void convert_deprecated(allocation_spec&);

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/select/defaults.ipp>
#endif
