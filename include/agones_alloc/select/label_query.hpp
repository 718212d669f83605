// Label selectors as clients write them in a query: `mode=duel,region in (eu,us),!beta`.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/select/match.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Kubernetes' text form: requirements with commas between them, all of which must hold. `key`, `!key`, `key=value`,
/// `key==value`, `key!=value` (lacking the key holds, too), `key in (a,b)`, `key notin (a,b)`. Keys and values are
/// checked as those of a matchExpression. "" is no clause: everything matches.
/// Gives the clauses, sorted, for `matches_labels`, or a sentence about what cannot be read; `key>1` and `key<1` are
/// not supported. Pure.
AGONES_ALLOC_DECL auto parse_label_query(std::string_view text) -> std::variant<std::vector<label_clause>, std::string>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/select/label_query.ipp>
#endif
