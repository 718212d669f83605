// What a client counts.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Counts since the client was made, and of now.
struct client_counts {
  std::size_t open{0};       ///< connections
  std::size_t idle{0};       ///< of those, unused
  std::size_t waiting{0};    ///< requests without a connection
  std::uint64_t opened{0};   ///< connections, in all
  std::uint64_t resumed{0};  ///< of those, with the TLS session of an earlier one
  std::uint64_t failed{0};   ///< attempts to open one that failed
  std::uint64_t sent{0};     ///< requests, repeats counted
  std::uint64_t repeated{0}; ///< requests sent again on a fresh connection, or with fresh credentials
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
