#pragma once

#include <agones_alloc/beast/client/exec_credentials.hpp>
#include <agones_alloc/beast/client/file_credentials.hpp>
#include <agones_alloc/beast/client/kube_connection.hpp>
#include <agones_alloc/impl/beast/client/file_credentials.ipp>

#include <charconv>
#include <system_error>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto make_kube_connection(boost::asio::any_io_executor executor, timer& time,
                                            yaml::kube_target const& target, logger* log) -> kube_connection {
  kube_connection out;
  out.endpoint = {target.host, target.port, target.tls, target.base_path};
  out.default_namespace = target.default_namespace;
  out.credentials = std::make_shared<file_credentials>(executor, time, target, log);
  if (target.exec) {
    out.credentials = std::make_shared<exec_credentials>(std::move(executor), time, target, std::move(out.credentials),
                                                         exec_limits{}, log);
  }
  return out;
}

AGONES_ALLOC_DECL auto in_cluster_target(std::string_view host, std::string_view port,
                                         std::filesystem::path const& folder) -> yaml::kubeconfig {
  yaml::kubeconfig out;
  auto& target = out.target;
  auto const fail = [&out](std::string file, std::string field, std::string message) {
    out.errors.push_back({std::move(file), 0, std::move(field), std::move(message)});
  };
  if (host.empty()) fail({}, "KUBERNETES_SERVICE_HOST", "is not set: this process is in no pod");
  target.host = host;
  auto const [end, ec] = std::from_chars(port.data(), port.data() + port.size(), target.port);
  if (ec != std::errc{} || end != port.data() + port.size() || target.port == 0) {
    fail({}, "KUBERNETES_SERVICE_PORT", port.empty() ? "is not set: this process is in no pod" : "is no port");
  }
  target.token_file = (folder / "token").string();
  target.ca.file = (folder / "ca.crt").string();
  for (auto const& file : {target.token_file, target.ca.file}) {
    std::error_code failed;
    if (std::filesystem::exists(file, failed)) continue;
    fail(file, {},
         failed ? "cannot be read: " + failed.message() : "no such file: the pod has no service account token");
  }
  std::string text;
  if (detail::read_credential_file((folder / "namespace").string(), text).empty()) {
    if (auto const name = detail::trimmed_token(text); !name.empty()) target.default_namespace = name;
  }
  if (!out.errors.empty()) target = {};
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
