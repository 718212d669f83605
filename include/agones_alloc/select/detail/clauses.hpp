// The clauses of a selector one by one, for the breakdown that the search and the index give.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/model/string_map.hpp>
#include <agones_alloc/select/match.hpp>

#include <span>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct view_shape;

namespace detail {

// Include select/find.hpp too, which brings the bodies in the header-only shape.
AGONES_ALLOC_DECL auto holds(label_clause const&, string_map const& labels) noexcept -> bool;
/// `label key=value`, `label key in (a, b)`, ...
AGONES_ALLOC_DECL auto clause_name(label_clause const&) -> std::string;
/// How many of the servers are left after each clause.
AGONES_ALLOC_DECL auto explain_shape(view_shape const&, std::span<game_server_ptr const> all)
    -> std::vector<breakdown::clause>;

}  // namespace detail

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
