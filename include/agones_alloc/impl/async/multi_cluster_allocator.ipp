#pragma once

#include <agones_alloc/async/detail/multi_cluster_core.hpp>
#include <agones_alloc/async/multi_cluster_allocator.hpp>

#include <stdexcept>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL multi_cluster_allocator::multi_cluster_allocator(boost::asio::any_io_executor executor,
                                                                   allocator* local, remote_allocator& remote,
                                                                   policy_source const& policies, timer& time,
                                                                   random_source& random, multi_cluster_options options,
                                                                   multi_cluster_ports ports) {
  if (!executor) throw std::invalid_argument{"multi_cluster_allocator: executor: must not be empty"};
  check(options);
  core_ = std::make_shared<detail::multi_cluster_core>(std::move(executor), local, remote, policies, time, random,
                                                       std::move(options), ports);
}

AGONES_ALLOC_DECL multi_cluster_allocator::~multi_cluster_allocator() { core_->close(); }

AGONES_ALLOC_DECL auto multi_cluster_allocator::outstanding() const noexcept -> std::size_t {
  return core_->outstanding();
}

AGONES_ALLOC_DECL void multi_cluster_allocator::start(multi_cluster_request request, handler done) {
  core_->submit(std::move(request), std::move(done));
}

AGONES_ALLOC_DECL void multi_cluster_allocator::tell_endpoints(endpoints_handler done) {
  core_->tell_endpoints(std::move(done));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
