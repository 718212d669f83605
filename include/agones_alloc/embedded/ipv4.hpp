// IPv4 addresses of simulated nodes.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Four decimal numbers from 0 to 255; nothing where the text is not that.
inline auto parse_ipv4(std::string_view text) noexcept -> std::optional<std::uint32_t> {
  std::uint32_t out = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
    std::uint32_t number = 0;
    int digits = 0;
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9' && digits < 4; ++digits, text.remove_prefix(1)) {
      number = number * 10 + static_cast<std::uint32_t>(text.front() - '0');
    }
    if (digits == 0 || digits > 3 || number > 255) return std::nullopt;
    out = out << 8 | number;
  }
  if (!text.empty()) return std::nullopt;
  return out;
}

inline auto ipv4_text(std::uint32_t address) -> std::string {
  auto const part = [address](int shift) { return std::to_string(address >> shift & 255U); };
  return part(24) + "." + part(16) + "." + part(8) + "." + part(0);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
