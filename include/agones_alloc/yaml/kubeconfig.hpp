// kubeconfig files to the one API server to talk to.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/yaml/document.hpp>
#include <agones_alloc/yaml/kube_target.hpp>
#include <agones_alloc/yaml/problem.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

/// A text with the path it was read from.
struct kubeconfig_text {
  std::string file;  ///< relative paths in the text are relative to its folder
  std::string text;
};

/// A target, or problems and an empty one.
struct kubeconfig {
  kube_target target;
  problems errors;
  auto ok() const noexcept -> bool { return errors.empty(); }
};

/// Merges the texts as kubectl does: of each cluster, user and context the first one of its name counts whole, and the
/// first `current-context` that is not empty. `context` names another one; "": the current one. Only what the chosen
/// context refers to is judged.
///
/// Refused with file, line and field: what `parse` refuses, values of the wrong type, names that are nowhere defined, a
/// server that is no http or https URL, data that is no base64 of PEM, a certificate without its key, an authority
/// together with insecure-skip-tls-verify, and several ways to prove who one is at once. Refused by name because they
/// are not supported: proxy-url, auth-provider, impersonation (as, as-uid, as-groups, as-user-extra), and
/// exec plugins of v1alpha1 or that insist on a terminal. Other fields are ignored. Messages never quote credentials.
/// Does no I/O; thread-safe; throws std::bad_alloc only.
AGONES_ALLOC_DECL auto read_kubeconfig(std::vector<kubeconfig_text> const& texts, std::string_view context = {})
    -> kubeconfig;

/// The files to read where the user named none: the entries of `KUBECONFIG` (colons between, empty ones left out, each
/// once), else .kube/config in `home`; none if that is empty too.
AGONES_ALLOC_DECL auto kubeconfig_paths(std::string_view kubeconfig_variable, std::string_view home)
    -> std::vector<std::filesystem::path>;

/// Reads the files, at most 1 MiB each, and then as above. Of several files those that do not exist are left out, as
/// long as one is there. Blocks.
AGONES_ALLOC_DECL auto load_kubeconfig(std::vector<std::filesystem::path> const& paths, std::string_view context = {})
    -> kubeconfig;

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/yaml/kubeconfig.ipp>
#include <agones_alloc/impl/yaml/kubeconfig_files.ipp>
#endif
