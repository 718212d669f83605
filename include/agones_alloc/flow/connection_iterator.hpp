// In which order a multi-cluster request tries clusters (spec 8.1, 8.2).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/policy.hpp>
#include <agones_alloc/model/selector.hpp>
#include <agones_alloc/port/random.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Groups policies by priority and cluster and draws each cluster at most once, by weight. A value, cheap to copy: what it
/// was made of is shared. Cluster identity: clusterName, or "policy " and its UID (else its key) when that is empty (Q31);
/// the connection of a cluster with several policies is that of the first in (priority, namespace, name) order.
class connection_iterator {
 public:
  AGONES_ALLOC_DECL explicit connection_iterator(std::span<game_server_allocation_policy const>);
  struct cluster {
    std::string identity;
    std::int64_t weight{0};  ///< integer mean of its policies' weights at this priority
    cluster_connection_info connection;
    shared_string server_name{};  ///< by `server_name_annotation`; "": each endpoint's host
    bool match_expressions{false};  ///< by `match_expressions_annotation`
  };

  /// The next cluster, or null when none is left. Weight 0 is never drawn. Valid as long as the iterator or a copy.
  AGONES_ALLOC_DECL auto next_cluster(random_source&) -> cluster const*;
  /// Its connection alone, or nullopt.
  AGONES_ALLOC_DECL auto next(random_source&) -> std::optional<cluster_connection_info>;

  struct group {
    std::int32_t priority{0};
    std::vector<cluster> clusters;
  };
  auto groups() const noexcept -> std::vector<group> const& { return *groups_; }
  /// Draws from all clusters again.
  void restart() noexcept {
    used_.clear();
    at_ = 0;
  }

 private:
  std::shared_ptr<std::vector<group> const> groups_;
  std::vector<cluster const*> used_;
  std::size_t at_{0};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/connection_iterator.ipp>
#endif
