// Fleets of other clusters, heard from their fleet directories.
#pragma once

#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/beast/remote/remote_fleets_options.hpp>
#include <agones_alloc/beast/remote/secret_source.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/policy_source.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class remote_fleets_core;
}

/// One stream for each cluster that the policies name, whatever their priorities and weights, each cluster and each set of
/// endpoints once; with the endpoints, names and credentials of allocation. What is heard goes into the directory under the
/// policy's name for the cluster. A policy without endpoints is the local cluster.
///
/// A stream that ends is opened again, at the next endpoint, after a back-off with jitter, from where it was; meanwhile the last
/// values stay and are marked stale. A remote without a directory (404) is `12`, unimplemented, and asked again after a while; one
/// that cannot be reached is `14`. Endpoints that speak gRPC are heard through `remote_fleets_options::grpc`. Remotes tell of themselves only (`multiCluster=false`, one hop), so there are no loops.
///
/// Lifetimes: everything passed must outlive it and, once it is destroyed, what runs on the executor then. Thread
/// safety: any thread. Destroying it stops.
class remote_fleets {
 public:
  /// `secrets`: null where policies name none. Throws std::invalid_argument for options out of range.
  AGONES_ALLOC_DECL remote_fleets(boost::asio::any_io_executor, fleet_directory&, policy_source const&, secret_source* secrets,
                                  timer&, random_source&, remote_fleets_options = {});
  AGONES_ALLOC_DECL ~remote_fleets();
  remote_fleets(remote_fleets const&) = delete;
  auto operator=(remote_fleets const&) -> remote_fleets& = delete;

  AGONES_ALLOC_DECL void start();
  /// For good; what was heard stays in the directory as it is.
  AGONES_ALLOC_DECL void stop();

 private:
  std::shared_ptr<detail::remote_fleets_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/remote_fleets.ipp>
#endif
