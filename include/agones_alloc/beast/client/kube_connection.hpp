// From a kubeconfig, or from within a pod, to what a client needs.
#pragma once

#include <agones_alloc/beast/client/client_options.hpp>
#include <agones_alloc/beast/client/credentials.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>
#include <agones_alloc/yaml/kubeconfig.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct kube_connection {
  client_endpoint endpoint;
  std::shared_ptr<credentials_provider> credentials;
  std::string default_namespace;
};

/// Nothing is read or run before the first request. Everything is confined to the executor; timer and logger must
/// outlive the credentials.
AGONES_ALLOC_DECL auto make_kube_connection(boost::asio::any_io_executor, timer&, yaml::kube_target const&,
                                            logger* = nullptr) -> kube_connection;

/// The API server of the cluster that this process is a pod of. `host` and `port` are the values of
/// KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT; `folder` holds `token`, `ca.crt` and `namespace`. Reads the
/// last of them. A value that is missing, or a folder without a token, is a problem that says so.
AGONES_ALLOC_DECL auto in_cluster_target(
    std::string_view host, std::string_view port,
    std::filesystem::path const& folder = "/var/run/secrets/kubernetes.io/serviceaccount") -> yaml::kubeconfig;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/kube_connection.ipp>
#endif
