#pragma once

#include <agones_alloc/impl/yaml/kubeconfig_entry.ipp>
#include <agones_alloc/impl/yaml/manifest_files.ipp>
#include <agones_alloc/yaml/kubeconfig.hpp>
#include <agones_alloc/yaml/manifest_files.hpp>

#include <algorithm>
#include <system_error>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

AGONES_ALLOC_DECL auto kubeconfig_paths(std::string_view kubeconfig_variable, std::string_view home)
    -> std::vector<std::filesystem::path> {
  std::vector<std::filesystem::path> out;
  while (!kubeconfig_variable.empty()) {
    auto const colon = std::min(kubeconfig_variable.find(':'), kubeconfig_variable.size());
    std::filesystem::path one{kubeconfig_variable.substr(0, colon)};
    if (!one.empty() && std::find(out.begin(), out.end(), one) == out.end()) out.push_back(std::move(one));
    kubeconfig_variable.remove_prefix(std::min(colon + 1, kubeconfig_variable.size()));
  }
  if (out.empty() && !home.empty()) out.push_back(std::filesystem::path{home} / ".kube" / "config");
  return out;
}

AGONES_ALLOC_DECL auto load_kubeconfig(std::vector<std::filesystem::path> const& paths, std::string_view context)
    -> kubeconfig {
  kubeconfig out;
  std::vector<kubeconfig_text> texts;
  for (auto const& path : paths) {
    std::error_code ignored;
    if (paths.size() > 1 && !std::filesystem::exists(path, ignored)) continue;
    kubeconfig_text one{path.string(), {}};
    auto why = std::filesystem::is_directory(path, ignored) ? std::string{"is a directory"}
                                                            : detail::read_file(path, detail::most_kubeconfig_bytes, one.text);
    if (!why.empty()) {
      out.errors.push_back({path.string(), 0, {}, std::move(why)});
    } else {
      texts.push_back(std::move(one));
    }
  }
  if (!out.errors.empty()) return out;
  if (texts.empty()) {
    auto const first = paths.empty() ? std::string{} : paths.front().string();
    out.errors.push_back({first, 0, {}, paths.empty() ? "no kubeconfig file is named" : "no such file, nor any after it"});
    return out;
  }
  return read_kubeconfig(texts, context);
}

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
