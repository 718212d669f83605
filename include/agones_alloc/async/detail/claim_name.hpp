// By which an engine finds the operation that is at work for an id.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// A view: what it shows belongs to the operation, which leaves the table before it ends, or ends with it.
struct claim_name {
  std::string_view namespace_;
  std::string_view id;
  std::size_t hash;  ///< claim_hash(id); hardly ever one id is in several namespaces
  friend auto operator==(claim_name const&, claim_name const&) -> bool = default;
};
struct claim_name_hash {
  using is_avalanching = void;
  auto operator()(claim_name const& name) const noexcept -> std::size_t { return name.hash; }
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
