// Node of the core group: what tells whether new pods, and players, should go there.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/meta.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct node_taint {
  shared_string key;
  shared_string value;
  shared_string effect;  ///< NoSchedule, PreferNoSchedule, NoExecute
  friend auto operator==(node_taint const&, node_taint const&) -> bool = default;
};

struct cluster_node {
  object_meta meta;
  bool unschedulable{false};  ///< spec.unschedulable: cordoned
  std::vector<node_taint> taints;
  friend auto operator==(cluster_node const&, cluster_node const&) -> bool = default;
};

/// Cordoned, tainted with NoSchedule or NoExecute, or being deleted: its servers are about to go, or are kept for others.
inline auto is_closing(cluster_node const& node) noexcept -> bool {
  return node.unschedulable || node.meta.deletion_timestamp != unset_time ||
         std::any_of(node.taints.begin(), node.taints.end(), [](node_taint const& taint) {
           return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
         });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
