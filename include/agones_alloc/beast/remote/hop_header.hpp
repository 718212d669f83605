// The fields that a forwarded request carries besides its body.
#pragma once

#include <agones_alloc/config.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// How often a request was forwarded: stops loops.
inline constexpr std::string_view hop_header = "Agones-Alloc-Hops";

/// A number of hops, 0 for ""; nullopt for anything else, and beyond 1000.
inline auto parse_hops(std::string_view text) noexcept -> std::optional<std::uint32_t> {
  std::uint32_t out = 0;
  if (text.empty()) return out;
  auto const* const end = text.data() + text.size();
  auto const [stopped, fault] = std::from_chars(text.data(), end, out);
  if (fault != std::errc{} || stopped != end || out > 1000) return std::nullopt;
  return out;
}

/// A `Grpc-Timeout`: at most eight digits, rounded down, at least a millisecond.
inline auto grpc_timeout_text(std::chrono::nanoseconds left) -> std::string {
  constexpr std::int64_t most = 99'999'999;
  auto const ms = std::max<std::int64_t>(std::chrono::floor<std::chrono::milliseconds>(left).count(), 1);
  if (ms <= most) return std::to_string(ms) + "m";
  return std::to_string(std::min(ms / 1000, most)) + "S";
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
