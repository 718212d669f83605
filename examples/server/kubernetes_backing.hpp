// The game servers of a Kubernetes cluster.
#pragma once

#include "backing.hpp"
#include "event_serving.hpp"
#include "options.hpp"

#include <agones_alloc/beast/client/kube_connection.hpp>
#include <agones_alloc/beast/client/pooled_http_client.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_cluster.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_kinds.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_mirror.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/server_observer.hpp>
#include <agones_alloc/port/timer.hpp>
#include <agones_alloc/yaml/kubeconfig.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <map>
#include <memory>
#include <vector>

namespace agones_alloc_server {

/// The cluster that the settings name, or what is wrong with them.
auto find_cluster(kubernetes_settings const&) -> agones_alloc::yaml::kubeconfig;

class kubernetes_backing final : public backing {
 public:
  kubernetes_backing(boost::asio::any_io_executor, server_options const&, agones_alloc::yaml::kube_target const&,
                     agones_alloc::ready_cache&, agones_alloc::timer&, agones_alloc::random_source&, agones_alloc::logger&,
                     agones_alloc::server_observer*, event_serving&);

  auto servers() -> agones_alloc::store& override { return cluster_.servers(); }
  auto events() -> agones_alloc::recorder* override { return cluster_.events(); }
  auto client() -> agones_alloc::http_client* override { return &beside_; }
  auto prepare() -> bool override { return true; }
  void start() override;
  void stop() override;
  auto synced() const -> bool override { return cluster_.synced(); }
  auto unwritten() const -> std::size_t override;
  auto fleets() const -> std::vector<agones_alloc::fleet> override;
  void tell_fleets(agones_alloc::fleet_directory&) override;
  auto describe() -> std::string override;

 private:
  using fleet_mirror = agones_alloc::kubernetes_mirror<agones_alloc::fleet_kind>;

  server_options const& options_;
  agones_alloc::ready_cache& cache_;
  agones_alloc::logger& log_;
  agones_alloc::yaml::kube_target const& target_;
  agones_alloc::kube_connection connection_;
  agones_alloc::pooled_http_client client_;  ///< allocations and watches
  agones_alloc::pooled_http_client beside_;  ///< all that must not be in their way
  agones_alloc::kubernetes_cluster mutable cluster_;
  std::vector<std::unique_ptr<fleet_mirror>> fleets_;  ///< one for each namespace
  bool fleets_listed_{false};  ///< anew since they were told
  std::map<agones_alloc::object_key, fleet_mirror const*> changed_fleets_;  ///< since then, and who has them now
};

}  // namespace agones_alloc_server
