// Which policies a multi-cluster request goes by (spec 8.1).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/model/policy.hpp>
#include <agones_alloc/model/selector.hpp>

#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// The reference's words for a request that no policy is for.
inline constexpr std::string_view no_policy_text = "no multi-cluster allocation policy is specified";

/// The policies of the request's namespace whose labels match `selector` (empty: all of them), in input order; maybe
/// none. Or the error of a selector that cannot be compiled.
AGONES_ALLOC_DECL auto choose_policies(std::span<game_server_allocation_policy const>, std::string_view namespace_,
                                       label_selector const& selector)
    -> std::variant<std::vector<game_server_allocation_policy>, field_error>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/policy_choice.ipp>
#endif
