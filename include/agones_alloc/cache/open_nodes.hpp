// Which nodes of a cluster are there to stay.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/shared_string.hpp>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Names of the nodes that new players may go to. Those that are missing are closing (cordoned, tainted, deleted), and their
/// servers rank last in packed order. Immutable.
class open_nodes {
 public:
  explicit open_nodes(std::vector<shared_string> names) : names_{std::move(names)} {
    std::sort(names_.begin(), names_.end());
  }

  /// A server without a node is not on a closing one.
  auto contains(std::string_view name) const noexcept -> bool {
    return name.empty() || std::binary_search(names_.begin(), names_.end(), name, std::less<>{});
  }
  friend auto operator==(open_nodes const&, open_nodes const&) -> bool = default;

 private:
  std::vector<shared_string> names_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
