// What an operation on a claim is for.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

enum class claim_purpose : std::uint8_t {
  allocate,  ///< makes it
  find,
  confirm,
  release,
  expire,    ///< the allocator's own release of one that nobody confirmed
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
