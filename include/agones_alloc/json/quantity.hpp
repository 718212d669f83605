// Kubernetes resource quantities: `20m`, `64Mi`, `1.5`, `1e3`.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What is wrong with a quantity; nothing: it is valid. Grammar: sign, decimal number, then one of n u m k M G T P E,
/// Ki Mi Gi Ti Pi Ei, or e/E with an integer exponent.
AGONES_ALLOC_DECL auto quantity_problem(std::string_view) -> std::optional<std::string>;

/// Checks every resource quantity of a GameServer's spec: requests and limits of (init) containers, emptyDir size
/// limits; texts and plain numbers. Negative amounts are refused too. `path` is the spec's own (`spec.template.spec`).
/// Anything of another shape is left to those who run the pod.
AGONES_ALLOC_DECL auto check_pod_quantities(boost::json::value const& game_server_spec, std::string_view path)
    -> std::optional<decode_error>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/quantity.ipp>
#endif
