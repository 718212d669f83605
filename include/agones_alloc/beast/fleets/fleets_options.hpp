// Bounds of the fleets' front end, and what it counts.
#pragma once

#include <agones_alloc/config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct fleets_options {
  std::size_t streams{500};             ///< open at once; one more is told 503
  std::size_t streams_per_caller{100};  ///< of one who has shown who they are
  std::chrono::nanoseconds heartbeat{std::chrono::seconds{15}};  ///< longest silence of a stream
  std::chrono::nanoseconds stream_time{std::chrono::hours{1}};   ///< then a stream ends, and its client comes again
};

/// Throws std::invalid_argument that names what is out of range.
inline auto checked(fleets_options options) -> fleets_options {
  if (options.heartbeat < std::chrono::milliseconds{1} || options.heartbeat > std::chrono::hours{1}) {
    throw std::invalid_argument{"fleets_options.heartbeat is out of range"};
  }
  if (options.stream_time < std::chrono::milliseconds{1} || options.stream_time > std::chrono::hours{24 * 366}) {
    throw std::invalid_argument{"fleets_options.stream_time is out of range"};
  }
  return options;
}

struct fleet_stream_counts {
  std::size_t open{0};
  std::uint64_t opened{0};
  std::uint64_t refused{0};
  std::uint64_t events{0};
  std::uint64_t bytes{0};
  std::uint64_t resets{0};  ///< streams that had to be told everything anew
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
