// Other clusters: policies, certificates and calls.
#pragma once

#include "backing.hpp"
#include "options.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/async/multi_cluster_allocator.hpp>
#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_kinds.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_mirror.hpp>
#include <agones_alloc/beast/multi_cluster_backend.hpp>
#include <agones_alloc/beast/remote/clusters_page.hpp>
#include <agones_alloc/beast/remote/connected_remote.hpp>
#include <agones_alloc/beast/remote/remote_by_protocol.hpp>
#include <agones_alloc/beast/remote/remote_feed.hpp>
#include <agones_alloc/beast/remote/remote_fleets.hpp>
#include <agones_alloc/beast/remote/rest_remote_allocator.hpp>
#include <agones_alloc/beast/remote/secret_source.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/metrics.hpp>
#include <agones_alloc/port/policy_source.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace agones_alloc_server {

/// Confined to the server's one thread.
class cluster_serving {
 public:
  /// `cluster`: the API server's client; null without one. `directory`: what other clusters' fleets go into; null: nothing.
  cluster_serving(boost::asio::any_io_executor, server_options const&, agones_alloc::allocator&,
                  agones_alloc::allocation_backend& local, agones_alloc::http_client* cluster, agones_alloc::timer&,
                  agones_alloc::random_source&, agones_alloc::logger&, agones_alloc::metrics&,
                  agones_alloc::fleet_directory* directory);

  auto backend() -> agones_alloc::allocation_backend& { return backend_; }
  auto page() -> agones_alloc::http_handler& { return page_; }
  /// Reads --policies, and adds them to those that came with the fleets; prints what is wrong. False: they cannot be used.
  auto prepare(placed_policies with_fleets) -> bool;
  void start();
  void stop();
  /// Reads --policies again; a problem leaves the last ones in use.
  void look();
  auto synced() const -> bool;
  auto policies() const -> std::size_t { return policies_.policies()->size(); }

 private:
  void copy_mirrors();
  /// Everything of --policies, and what is wrong with them.
  auto load(std::vector<std::string>& problems) const -> std::vector<agones_alloc::game_server_allocation_policy>;

  remote_cluster_settings const& settings_;
  agones_alloc::logger& log_;
  placed_policies with_fleets_;
  agones_alloc::policy_list policies_;
  std::vector<std::unique_ptr<agones_alloc::kubernetes_mirror<agones_alloc::policy_kind>>> mirrors_;  ///< one for each namespace
  std::unique_ptr<agones_alloc::secret_source> secrets_;
  agones_alloc::rest_remote_allocator rest_;
  std::shared_ptr<agones_alloc::connected_remote> grpc_;  ///< null: built without it
  std::unique_ptr<agones_alloc::connected_remote> tried_;  ///< null: endpoints' protocols are not tried
  std::shared_ptr<agones_alloc::remote_feeds> feeds_;  ///< over gRPC; null: built without it
  agones_alloc::remote_by_protocol remote_;
  agones_alloc::multi_cluster_allocator clusters_;
  agones_alloc::multi_cluster_backend backend_;
  agones_alloc::clusters_page page_;
  std::optional<agones_alloc::remote_fleets> fleets_;
};

}  // namespace agones_alloc_server
