// An API server and who we are to it, as a kubeconfig says it.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

/// Text, or the file to read it from; text wins. Both empty: not given.
struct pem_source {
  std::string pem;
  std::string file;
  auto given() const noexcept -> bool { return !pem.empty() || !file.empty(); }
  friend auto operator==(pem_source const&, pem_source const&) -> bool = default;
};

/// A program that prints credentials (client.authentication.k8s.io).
struct exec_plugin {
  std::string api_version;  ///< `client.authentication.k8s.io/v1` or `.../v1beta1`
  std::string command;      ///< looked up in PATH unless it holds a slash
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  ///< added to our own
  std::string install_hint;                              ///< for the user when the program is missing
  bool provide_cluster_info{false};
  friend auto operator==(exec_plugin const&, exec_plugin const&) -> bool = default;
};

struct kube_target {
  std::string context;  ///< the names in the file, "" where it has none
  std::string cluster;
  std::string user;
  std::string default_namespace{"default"};

  bool tls{true};
  std::string host;  ///< a name or numeric address, IPv6 without brackets
  std::uint16_t port{443};
  std::string base_path;  ///< before every path, without a slash at its end

  pem_source ca;                ///< none: the system's authorities
  std::string tls_server_name;  ///< "": host
  bool insecure_skip_tls_verify{false};

  pem_source certificate;
  pem_source key;
  std::string token;       ///< until `token_file` has been read
  std::string token_file;  ///< re-read as it rotates
  std::string username;    ///< basic authentication, with `password`
  std::string password;
  std::optional<exec_plugin> exec;
};

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
