// `GET /v1/clusters`: what is known of other clusters.
#pragma once

#include <agones_alloc/async/multi_cluster_allocator.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/beast/remote/connected_remote.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/policy.hpp>
#include <agones_alloc/port/policy_source.hpp>

#include <span>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A JSON document: each cluster of the policies with its priorities and weights, and each endpoint with its breaker
/// (closed while it was never called), the last call's outcome, and its connections with their credentials' version.
AGONES_ALLOC_DECL auto clusters_json(std::span<game_server_allocation_policy const>, std::span<endpoint_state const>,
                                     std::span<remote_endpoint_state const>) -> std::string;

/// Everything must outlive it and its requests. Thread safety: as the listener's.
class clusters_page final : public http_handler {
 public:
  clusters_page(policy_source const& policies, multi_cluster_allocator& clusters, connected_remote& remote) noexcept
      : policies_{&policies}, clusters_{&clusters}, remote_{&remote} {}

  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

 private:
  policy_source const* policies_;
  multi_cluster_allocator* clusters_;
  connected_remote* remote_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/clusters_page.ipp>
#endif
