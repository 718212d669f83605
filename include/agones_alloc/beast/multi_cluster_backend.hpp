// Several clusters behind the front ends.
#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/multi_cluster_allocator.hpp>
#include <agones_alloc/beast/allocation_backend.hpp>
#include <agones_alloc/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Requests with `multiClusterSetting.enabled` go to the clusters, all others to `local`. A dry run over several clusters
/// is refused: remotes cannot be told to decide only. Everything must outlive it.
class multi_cluster_backend final : public allocation_backend {
 public:
  multi_cluster_backend(boost::asio::any_io_executor executor, allocation_backend& local, multi_cluster_allocator& clusters)
      : executor_{std::move(executor)}, local_{&local}, clusters_{&clusters} {}

  auto has_clusters() const noexcept -> bool override { return true; }

  void allocate(call c, handler done) override {
    if (!c.request->allocation().spec.multi_cluster.enabled) return local_->allocate(std::move(c), std::move(done));
    if (c.dry_run) return refuse_dry_run(std::move(done));
    multi_cluster_request request;
    request.request = std::move(c.request);
    request.options.deadline = c.deadline;
    request.options.request_id = c.terms.request_id;
    request.options.wait_for = c.terms.wait_for;
    request.options.claim_ttl = c.terms.claim_ttl;
    request.options.gate = gate_of(c.terms);
    request.request_id = std::move(c.terms.request_id);
    request.hops = c.hops;
    clusters_->async_allocate(std::move(request), std::move(done));
  }

 private:
  void refuse_dry_run(handler done) {
    boost::asio::post(executor_, [own = boost::asio::any_completion_executor{executor_}, done = std::move(done)]() mutable {
      allocation_result no;
      no.result = outcome::refused;
      no.server_code = 400;
      no.server_message = "dryRun: cannot be asked for over several clusters";
      no.multi_cluster = true;
      detail::complete(own, std::move(done), error_of(no.result), std::move(no));
    });
  }

  boost::asio::any_io_executor executor_;
  allocation_backend* local_;
  multi_cluster_allocator* clusters_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
