// Bounds and time-outs of the HTTP client. Every buffer and every wait has one.
#pragma once

#include <agones_alloc/config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// The server a client talks to.
struct client_endpoint {
  std::string host;            ///< a name or a numeric address, IPv6 without brackets
  std::uint16_t port{443};
  bool tls{true};
  std::string base_path;       ///< goes before every target, without a slash at its end; "" for none
  std::vector<std::string> addresses{};  ///< numeric; to be connected to in place of those the host's name resolves to
};

struct client_limits {
  std::size_t connections{64};              ///< open at once for requests, at least 1
  std::size_t streams{16};                  ///< open at once for streams, not counted above
  std::size_t queue{4096};                  ///< requests that wait for a connection; more: errc::too_many_requests
  std::size_t header_bytes{32 * 1024};      ///< status line and fields of an answer
  std::size_t body_bytes{16 * 1024 * 1024}; ///< body of an answer, chunks joined
  std::size_t request_bytes{4 * 1024 * 1024}; ///< body of a request
};

/// What each phase may take; the request's deadline may end it earlier.
struct client_times {
  std::chrono::nanoseconds queue{std::chrono::seconds{30}};        ///< waiting for a connection or the rate limit
  std::chrono::nanoseconds credentials{std::chrono::seconds{30}};  ///< fetching them
  std::chrono::nanoseconds resolve{std::chrono::seconds{5}};
  std::chrono::nanoseconds connect{std::chrono::seconds{5}};       ///< for all addresses of the host together
  /// A host's next address is tried beside one that takes longer; sooner where `connect` would not do for all.
  std::chrono::nanoseconds next_address{std::chrono::milliseconds{250}};
  std::chrono::nanoseconds handshake{std::chrono::seconds{10}};
  std::chrono::nanoseconds write{std::chrono::seconds{15}};
  std::chrono::nanoseconds first_byte{std::chrono::seconds{30}};   ///< from the request's end to the answer's head
  std::chrono::nanoseconds body{std::chrono::seconds{60}};         ///< from there to its end
  std::chrono::nanoseconds silence{std::chrono::seconds{60}};      ///< longest pause on a stream
  std::chrono::nanoseconds idle{std::chrono::seconds{60}};         ///< an unused connection is closed after it
};

/// A token bucket over all requests. Off while per_second is 0.
struct client_rate {
  double per_second{0};
  std::size_t burst{1};  ///< requests that may go at once after a pause, at least 1
};

struct client_options {
  client_limits limits;
  client_times times;
  client_rate rate;
  std::string user_agent{"agones_alloc/" AGONES_ALLOC_VERSION};
};

/// The first field that is out of range, or null: counts at least 1 (queue: 0), header_bytes at least 256, all at most
/// what 31 bits hold; times over 0 and at most 24 hours; a rate of 0 or 0.001 to 1,000,000.
inline auto first_bad_field(client_options const& o) noexcept -> char const* {
  constexpr std::size_t most = 0x7fffffff;
  auto const bad = [](std::chrono::nanoseconds t) { return t.count() <= 0 || t > std::chrono::hours{24}; };
  if (o.limits.connections < 1 || o.limits.connections > most) return "limits.connections";
  if (o.limits.streams < 1 || o.limits.streams > most) return "limits.streams";
  if (o.limits.queue > most) return "limits.queue";
  if (o.limits.header_bytes < 256 || o.limits.header_bytes > most) return "limits.header_bytes";
  if (o.limits.body_bytes < 1 || o.limits.body_bytes > most) return "limits.body_bytes";
  if (o.limits.request_bytes < 1 || o.limits.request_bytes > most) return "limits.request_bytes";
  if (bad(o.times.queue)) return "times.queue";
  if (bad(o.times.credentials)) return "times.credentials";
  if (bad(o.times.resolve)) return "times.resolve";
  if (bad(o.times.connect)) return "times.connect";
  if (bad(o.times.next_address)) return "times.next_address";
  if (bad(o.times.handshake)) return "times.handshake";
  if (bad(o.times.write)) return "times.write";
  if (bad(o.times.first_byte)) return "times.first_byte";
  if (bad(o.times.body)) return "times.body";
  if (bad(o.times.silence)) return "times.silence";
  if (bad(o.times.idle)) return "times.idle";
  if (!(o.rate.per_second == 0 || (o.rate.per_second >= 0.001 && o.rate.per_second <= 1e6))) return "rate.per_second";
  if (o.rate.burst < 1 || o.rate.burst > most) return "rate.burst";
  for (char const c : o.user_agent) {
    if (c < 0x20 || c == 0x7f) return "user_agent";
  }
  return nullptr;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
