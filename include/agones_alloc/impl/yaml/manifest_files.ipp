#pragma once

#include <agones_alloc/yaml/manifest_files.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
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

inline auto failed_file(std::filesystem::path const& path, std::string message) -> manifests {
  manifests out;
  out.errors.push_back({path.string(), 0, {}, std::move(message)});
  return out;
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

}  // namespace detail

AGONES_ALLOC_DECL auto load_path(std::filesystem::path const& path, manifest_options const& options) -> manifests {
  std::vector<std::filesystem::path> files;
  if (auto message = detail::list_files(path, files); !message.empty())
    return detail::failed_file(path, std::move(message));
  std::vector<manifest_text> texts;
  // One bound for all files together: a directory must not hold more in memory than a file may.
  auto left = options.text.max_bytes;
  for (auto const& file : files) {
    manifest_text text{file.string(), {}};
    if (auto message = detail::read_file(file, left, text.text); !message.empty()) {
      return detail::failed_file(file, std::move(message));
    }
    if (text.text.size() > left) {
      return detail::failed_file(
          file, "together with the files before it larger than " + std::to_string(options.text.max_bytes) + " bytes");
    }
    left -= text.text.size();
    texts.push_back(std::move(text));
  }
  return load(texts, options);
}

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
