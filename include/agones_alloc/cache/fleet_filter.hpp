// Which fleets somebody wants to hear of.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/fleet_info.hpp>
#include <agones_alloc/select/match.hpp>

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What identifies a fleet among all clusters. Fleets are listed in this order.
struct fleet_key {
  shared_string cluster;
  shared_string namespace_;
  shared_string name;
  friend auto operator==(fleet_key const&, fleet_key const&) -> bool = default;
  friend auto operator<=>(fleet_key const&, fleet_key const&) = default;
};

inline auto key_of(fleet_info const& fleet) -> fleet_key { return {fleet.cluster, fleet.namespace_, fleet.name}; }

/// All that is set must hold; the default admits everything.
struct fleet_filter {
  std::string cluster{};
  std::string namespace_{};
  std::string name{};
  bool local_only{false};                 ///< no other clusters, neither their fleets nor their status
  std::vector<label_clause> labels{};     ///< of the Fleet
  std::function<bool(std::string_view)> may_see{};  ///< a namespace; empty: all of them
};

/// Whether the key is one that the filter admits; labels are not looked at.
inline auto admits(fleet_filter const& filter, fleet_key const& key, std::string_view local) -> bool {
  return (filter.cluster.empty() || key.cluster == filter.cluster) &&
         (filter.namespace_.empty() || key.namespace_ == filter.namespace_) &&
         (filter.name.empty() || key.name == filter.name) && (!filter.local_only || key.cluster == local) &&
         (!filter.may_see || filter.may_see(key.namespace_));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
