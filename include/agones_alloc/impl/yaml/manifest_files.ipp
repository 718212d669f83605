#pragma once

#include <agones_alloc/yaml/manifest_files.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

namespace detail {

inline constexpr std::size_t most_files = 1'000;

inline auto is_manifest_name(std::filesystem::path const& path) -> bool {
  auto const extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

/// The files of `path`, sorted; a message where there are none.
inline auto list_files(std::filesystem::path const& path, std::vector<std::filesystem::path>& files) -> std::string {
  std::error_code error;
  auto const status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return "no such file or directory";
  if (error) return "cannot be read: " + error.message();
  if (!std::filesystem::is_directory(status)) {
    files.push_back(path);
    return {};
  }
  std::filesystem::directory_iterator entry{path, error};
  for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
    if (!is_manifest_name(entry->path()) || std::filesystem::is_directory(entry->path())) continue;
    if (files.size() == most_files) return "more than " + std::to_string(most_files) + " manifest files";
    files.push_back(entry->path());
  }
  if (error) return "cannot be read: " + error.message();
  if (files.empty()) return "the directory has no .yaml, .yml or .json file";
  std::sort(files.begin(), files.end());
  return {};
}

/// Reads at most one byte over the bound, so that the reader can say that it is over.
inline auto read_file(std::filesystem::path const& path, std::size_t max_bytes, std::string& text) -> std::string {
  errno = 0;
  std::ifstream in{path, std::ios::binary};
  auto const reason = [] {
    return errno != 0 ? "cannot be read: " + std::string{std::strerror(errno)} : std::string{"cannot be read"};
  };
  if (!in) return reason();
  char block[64 * 1024];
  while (text.size() <= max_bytes && (in.read(block, sizeof block), in.gcount() > 0)) {
    text.append(block, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return reason();
  return {};
}

/// Adds the texts of a path; else says what is wrong with which file.
inline auto read_path(std::filesystem::path const& path, std::size_t max_bytes, std::vector<manifest_text>& texts)
    -> std::optional<problem> {
  std::vector<std::filesystem::path> files;
  if (auto message = list_files(path, files); !message.empty()) return problem{path.string(), 0, {}, std::move(message)};
  // One bound for all files together: a directory must not hold more in memory than a file may.
  auto left = max_bytes;
  for (auto const& file : files) {
    manifest_text text{file.string(), {}};
    if (auto message = read_file(file, left, text.text); !message.empty()) {
      return problem{file.string(), 0, {}, std::move(message)};
    }
    if (text.text.size() > left) {
      return problem{file.string(), 0, {},
                     "together with the files before it larger than " + std::to_string(max_bytes) + " bytes"};
    }
    left -= text.text.size();
    texts.push_back(std::move(text));
  }
  return std::nullopt;
}

/// The files that have objects of a kind that is read.
inline auto files_with_objects(manifests const& all) -> std::set<std::string_view> {
  std::set<std::string_view> out;
  for (auto const* places : {&all.fleet_places, &all.game_server_places, &all.policy_places}) {
    for (auto const& place : *places) out.insert(place.file);
  }
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL auto load_path(std::filesystem::path const& path, manifest_options const& options) -> manifests {
  return load_paths({path.string()}, options);
}

AGONES_ALLOC_DECL auto load_paths(std::vector<std::string> const& paths, manifest_options const& options) -> manifests {
  std::vector<manifest_text> texts;
  std::vector<std::size_t> ends;  // of the texts of each path
  problems unreadable;
  for (auto const& path : paths) {
    if (auto found = detail::read_path(path, options.text.max_bytes, texts)) unreadable.push_back(*std::move(found));
    ends.push_back(texts.size());
  }
  auto out = load(texts, options);
  if (!unreadable.empty()) {
    manifests failed;
    failed.notes = std::move(out.notes);
    failed.errors = std::move(unreadable);
    failed.errors.insert(failed.errors.end(), out.errors.begin(), out.errors.end());
    return failed;
  }
  if (!out.ok()) return out;
  auto const useful = detail::files_with_objects(out);
  problems without;
  std::size_t at = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    bool any = false;
    for (; at < ends[i]; ++at) any = any || useful.contains(texts[at].file);
    if (!any) without.push_back({paths[i], 0, {}, "holds no Fleet, no GameServer and no GameServerAllocationPolicy", true});
  }
  out.notes.insert(out.notes.end(), without.begin(), without.end());
  return out;
}

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
