// GameServerAllocationPolicy of multicluster.agones.dev/v1 (spec 1.6).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/meta.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Annotation of a policy: the name that the certificates of its endpoints carry, where that is not the endpoint's host.
inline constexpr std::string_view server_name_annotation = "agones-alloc.dev/server-name";

/// Annotation of a policy: "true" says that its endpoints know `GameServerSelector.matchExpressions` (Q10): these servers, and
/// Agones since 1.61. Without it what such a selector excludes cannot be said to them, and is not asked of them.
inline constexpr std::string_view match_expressions_annotation = "agones-alloc.dev/match-expressions";

struct cluster_connection_info {
  shared_string cluster_name;
  std::vector<shared_string> allocation_endpoints;  ///< empty: this cluster
  shared_string secret_name;
  shared_string namespace_;
  shared_string server_ca;  ///< decoded bytes (PEM), not base64
  friend auto operator==(cluster_connection_info const&, cluster_connection_info const&) -> bool = default;
};

struct game_server_allocation_policy {
  object_meta meta;
  std::int32_t priority{0};  ///< lower goes first
  std::int64_t weight{0};
  cluster_connection_info connection_info;
  friend auto operator==(game_server_allocation_policy const&, game_server_allocation_policy const&) -> bool = default;
};

/// All policies there are at a moment; never changed, another list takes its place.
using policies_ptr = std::shared_ptr<std::vector<game_server_allocation_policy> const>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
