// Manifests from a file or a directory.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/yaml/manifests.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

/// As `load`, of one file, or of every *.yaml, *.yml and *.json of a directory (not of those below it), in the order of
/// their names, at most 1,000. All of it is read before any of it is judged, so objects may refer across files.
/// A path that does not exist, is neither, cannot be read or holds no manifest file is a problem that says so. Blocks.
AGONES_ALLOC_DECL auto load_path(std::filesystem::path const& path, manifest_options const& options = {}) -> manifests;

/// As load_path, of several together: objects of one name are found wherever they are, and the bound on all replicas is one.
/// The bound on bytes is each path's. A path that has no object is named in `notes`.
AGONES_ALLOC_DECL auto load_paths(std::vector<std::string> const& paths, manifest_options const& options = {}) -> manifests;

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/yaml/manifest_files.ipp>
#endif
