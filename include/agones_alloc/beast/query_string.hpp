// The part of a target after the '?', and durations in it.
#pragma once

#include <agones_alloc/config.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// `%41` is `A`; with `plus_is_space`, `+` is a space. nullopt where a '%' is not followed by two hex digits.
AGONES_ALLOC_DECL auto percent_decoded(std::string_view text, bool plus_is_space = false) -> std::optional<std::string>;

/// All values of one parameter, decoded, in order; those that cannot be decoded come as they are.
AGONES_ALLOC_DECL auto query_values(std::string_view query, std::string_view name) -> std::vector<std::string>;

/// Go's duration syntax without signs: `5s`, `1m30s`, `1.5h`, `250ms`, `0`. nullopt for anything else or over a year.
AGONES_ALLOC_DECL auto parse_go_duration(std::string_view) -> std::optional<std::chrono::nanoseconds>;

/// The value of a `Grpc-Timeout` field: at most eight digits and one of H M S m u n.
AGONES_ALLOC_DECL auto parse_grpc_timeout(std::string_view) -> std::optional<std::chrono::nanoseconds>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/query_string.ipp>
#endif
