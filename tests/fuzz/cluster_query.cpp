// Queries, paths and Accept fields of those who ask for embedded fleets: the first line of the input is a path, the second
// a query, the third a field of types.
#include "require.hpp"

#include <agones_alloc/beast/cluster_api/api_answer.hpp>
#include <agones_alloc/beast/cluster_api/list_query.hpp>
#include <agones_alloc/beast/cluster_api/served_path.hpp>
#include <agones_alloc/select/selector_text.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

using fuzz::require;
using namespace agones_alloc;

namespace {

auto line(std::string_view& rest) -> std::string_view {
  auto const end = rest.find('\n');
  auto const out = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view rest{reinterpret_cast<char const*>(data), size};
  if (auto const path = parse_served_path(line(rest))) {
    require(!path->plural.empty());
    require(path->subresource.empty() || !path->name.empty());
  }
  auto const query = read_list_query(line(rest));
  if (auto const* found = std::get_if<list_query>(&query)) {
    object_meta meta;
    meta.name = "a";
    meta.namespace_ = "default";
    meta.labels = {{"mode", "duel"}};
    if (found->selects_all()) require(is_selected(*found, meta));
    (void)is_selected(*found, meta, {});
    require(found->resource_version.size() <= 20);
  } else {
    require(!std::get<std::string>(query).empty());
  }
  auto const labels = parse_label_selector(rest);
  if (auto const* problem = std::get_if<std::string>(&labels)) require(!problem->empty());
  (void)read_accept(rest);
  return 0;
}
