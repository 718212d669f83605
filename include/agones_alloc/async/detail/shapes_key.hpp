// By which requests for the same are found.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/select/request.hpp>

#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// The same for requests of the same shapes; others that have it are told apart by their shapes.
inline auto shapes_key(allocation_request const& request) noexcept -> std::uint64_t {
  std::uint64_t key = 0;
  for (auto const& shape : request.shapes()) key = key * 31 + shape.hash;
  return key;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
