// GameServerAllocationPolicy of multicluster.agones.dev/v1 (spec 1.6).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/meta.hpp>

#include <cstdint>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

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

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
