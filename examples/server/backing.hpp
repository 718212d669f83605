// Where the server's game servers are.
#pragma once

#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/beast/cluster_api/event_book.hpp>
#include <agones_alloc/embedded/embedded_cluster.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/policy.hpp>
#include <agones_alloc/port/recorder.hpp>
#include <agones_alloc/port/store.hpp>
#include <agones_alloc/yaml/manifests.hpp>

#include <memory>
#include <string>
#include <vector>

namespace agones_alloc_server {

/// What embedded fleets are made of; null with a cluster.
struct embedded_parts {
  agones_alloc::memory_store* store{nullptr};
  agones_alloc::embedded_cluster* cluster{nullptr};
  agones_alloc::event_book const* events{nullptr};
};

/// Policies, and where each stands.
struct placed_policies {
  std::vector<agones_alloc::game_server_allocation_policy> policies;
  std::vector<agones_alloc::yaml::manifest_place> places;
};

/// Embedded fleets, or a Kubernetes cluster. Keeps the cache in step with them. Confined to the server's one thread.
class backing {
 public:
  virtual ~backing() = default;
  virtual auto servers() -> agones_alloc::store& = 0;
  virtual auto events() -> agones_alloc::recorder* = 0;
  /// Of the cluster's API server, for all but allocations; null without one.
  virtual auto client() -> agones_alloc::http_client* { return nullptr; }

  virtual auto embedded() -> embedded_parts { return {}; }

  /// Before anything else; prints what is wrong. False: it cannot be served.
  virtual auto prepare() -> bool = 0;
  virtual void start() = 0;
  virtual void stop() = 0;
  virtual auto synced() const -> bool = 0;
  /// Things that are still to be written before the process may end.
  virtual auto unwritten() const -> std::size_t { return 0; }

  /// Policies that came with the fleets.
  virtual auto policies() const -> placed_policies { return {}; }
  /// Tells the directory which Fleets have come, changed or gone since the last call, each as it is now.
  virtual void tell_fleets(agones_alloc::fleet_directory&) = 0;
  /// For the metrics.
  virtual auto fleets() const -> std::vector<agones_alloc::fleet> = 0;
  /// Tells the person at the terminal, or the log, what there is; gives the namespace for an example.
  virtual auto describe() -> std::string = 0;
};

}  // namespace agones_alloc_server
