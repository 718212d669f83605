// Bounds of the HTTP server. Every buffer and every wait has one.
#pragma once

#include <agones_alloc/config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct http_limits {
  std::size_t header_bytes{16 * 1024};    ///< request line and fields; more: 431
  std::size_t body_bytes{256 * 1024};     ///< body, chunks joined; more: 413
  std::size_t connections{1024};          ///< open at once; above, the one that has waited longest for its client goes
  std::size_t linger_bytes{256 * 1024};   ///< read and dropped after a refusal, so that the client gets to read it
  int backlog{1024};                      ///< connections the kernel keeps until they are accepted
  std::chrono::nanoseconds handshake_time{std::chrono::seconds{10}};  ///< for TLS; then closed
  std::chrono::nanoseconds header_time{std::chrono::seconds{10}};  ///< from the first byte to the end of the header; then 408
  std::chrono::nanoseconds body_time{std::chrono::seconds{30}};    ///< from there to the end of the body; then 408
  std::chrono::nanoseconds idle_time{std::chrono::seconds{90}};    ///< between requests; then closed
  std::chrono::nanoseconds write_time{std::chrono::seconds{30}};   ///< for the client to take an answer; then closed
};

/// The first field that is out of range, or null: counts and times at least 1, header_bytes at least 256,
/// everything at most what 32 bits hold (times: 24 hours).
inline auto first_bad_field(http_limits const& limits) noexcept -> char const* {
  constexpr std::size_t most = 0x7fffffff;
  auto const bad = [](std::chrono::nanoseconds t) { return t <= std::chrono::nanoseconds{0} || t > std::chrono::hours{24}; };
  if (limits.header_bytes < 256 || limits.header_bytes > most) return "header_bytes";
  if (limits.body_bytes < 1 || limits.body_bytes > most) return "body_bytes";
  if (limits.connections < 1 || limits.connections > most) return "connections";
  if (limits.linger_bytes > most) return "linger_bytes";
  if (limits.backlog < 1) return "backlog";
  if (bad(limits.handshake_time)) return "handshake_time";
  if (bad(limits.header_time)) return "header_time";
  if (bad(limits.body_time)) return "body_time";
  if (bad(limits.idle_time)) return "idle_time";
  if (bad(limits.write_time)) return "write_time";
  return nullptr;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
