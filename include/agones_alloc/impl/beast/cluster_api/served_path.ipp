#pragma once

#include <agones_alloc/beast/cluster_api/served_path.hpp>
#include <agones_alloc/beast/query_string.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto parse_served_path(std::string_view path) -> std::optional<served_path> {
  static constexpr std::size_t most_parts = 5;
  if (!path.starts_with(object_path_prefix)) return std::nullopt;
  path.remove_prefix(object_path_prefix.size());
  if (path.ends_with('/')) path.remove_suffix(1);
  std::vector<std::string> parts;
  while (true) {
    auto const end = std::min(path.find('/'), path.size());
    auto part = percent_decoded(path.substr(0, end));
    if (!part || part->empty() || parts.size() == most_parts) return std::nullopt;
    parts.push_back(*std::move(part));
    if (end == path.size()) break;
    path.remove_prefix(end + 1);
  }
  if (parts.size() == 1) return served_path{{}, std::move(parts[0]), {}, {}};
  if (parts[0] != "namespaces" || parts.size() == 2) return std::nullopt;
  parts.resize(most_parts);
  return served_path{std::move(parts[1]), std::move(parts[2]), std::move(parts[3]), std::move(parts[4])};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
