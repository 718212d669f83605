#pragma once

#include <agones_alloc/yaml/source_lines.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <charconv>
#include <optional>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

namespace detail {

struct path_step {
  std::size_t child{0};
  std::string_view rest;
};

/// True when `path` begins with `key` as a whole step; cuts it off.
inline auto cut_key(std::string_view& path, std::string_view key) -> bool {
  auto rest = path;
  if (rest.starts_with('[')) {
    rest.remove_prefix(1);
    if (!rest.starts_with(key) || rest.substr(key.size(), 1) != "]") return false;
    path = rest.substr(key.size() + 1);
    return true;
  }
  if (rest.starts_with('.')) rest.remove_prefix(1);
  if (!rest.starts_with(key)) return false;
  rest.remove_prefix(key.size());
  if (!rest.empty() && rest.front() != '.' && rest.front() != '[') return false;
  path = rest;
  return true;
}

inline auto next_step(boost::json::value const& value, std::string_view path) -> std::optional<path_step> {
  if (auto const* array = value.if_array()) {
    std::size_t index = 0;
    if (!path.starts_with('[')) return std::nullopt;
    auto const [end, error] = std::from_chars(path.data() + 1, path.data() + path.size(), index);
    if (error != std::errc{} || end == path.data() + path.size() || *end != ']' || index >= array->size())
      return std::nullopt;
    return path_step{index, path.substr(static_cast<std::size_t>(end + 1 - path.data()))};
  }
  auto const* object = value.if_object();
  if (object == nullptr) return std::nullopt;
  // Keys may hold dots: of several that fit the longest is meant.
  std::optional<path_step> best;
  std::size_t index = 0;
  for (auto const& member : *object) {
    auto rest = path;
    if (cut_key(rest, {member.key().data(), member.key().size()}) && (!best || rest.size() < best->rest.size())) {
      best = path_step{index, rest};
    }
    ++index;
  }
  return best;
}

}  // namespace detail

AGONES_ALLOC_DECL auto line_of(boost::json::value const& value, source_lines const& lines, std::string_view path)
    -> std::size_t {
  auto const* at = &value;
  auto const* here = &lines;
  while (!path.empty()) {
    auto const step = detail::next_step(*at, path);
    if (!step || step->child >= here->children.size()) break;
    at = at->is_array() ? &at->get_array()[step->child]
                        : &(at->get_object().begin() + static_cast<std::ptrdiff_t>(step->child))->value();
    here = &here->children[step->child];
    path = step->rest;
  }
  return here->line;
}

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
