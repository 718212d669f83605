// Spans of time as they are written in annotations and options: `2s`, `1s-3s`, `500ms`, `1m30s`.
#pragma once

#include <agones_alloc/config.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// From `min` to `max`, both included; equal for a fixed span.
struct duration_range {
  std::chrono::nanoseconds min{0};
  std::chrono::nanoseconds max{0};
  friend auto operator==(duration_range const&, duration_range const&) -> bool = default;
};

/// The longest span taken: about 11 years.
inline constexpr std::chrono::nanoseconds longest_duration = std::chrono::hours{100'000};

/// A Go-like duration: numbers with a unit (ns, us, ms, s, m, h), up to six digits after a point, or `0`. Nothing where
/// the text is not one, is negative, or is longer than `longest_duration`.
AGONES_ALLOC_DECL auto parse_duration(std::string_view text) noexcept -> std::optional<std::chrono::nanoseconds>;

/// One duration, or two joined by `-`, the shorter first.
AGONES_ALLOC_DECL auto parse_duration_range(std::string_view text) noexcept -> std::optional<duration_range>;

/// `1m30s`, `500ms`, `0s`: reads back as the same span.
AGONES_ALLOC_DECL auto to_string(std::chrono::nanoseconds span) -> std::string;
AGONES_ALLOC_DECL auto to_string(duration_range const& range) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/embedded/durations.ipp>
#endif
