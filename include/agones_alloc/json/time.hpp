// metav1.Time: RFC 3339 (spec 1.1).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/meta.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// `2026-11-29T12:43:08Z`, with a fraction (dropped) or an offset. Nothing for any other text, "" included, and for
/// years outside 0 to 9999. Year 1, January 1, midnight is Go's zero time: `unset_time`.
AGONES_ALLOC_DECL auto parse_time(std::string_view) noexcept -> std::optional<timestamp>;

/// UTC, whole seconds, suffix Z; "" for `unset_time` and years outside 0 to 9999, which print as `null`.
AGONES_ALLOC_DECL auto format_time(timestamp) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/time.ipp>
#endif
