#pragma once

#include <agones_alloc/beast/request_bounds.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline void refuse_more(field_errors& out, std::string field, std::size_t size, std::size_t most) {
  if (size <= most) return;
  out.push_back({field_error_type::too_long, std::move(field), "",
                 "has " + std::to_string(size) + " entries, at most " + std::to_string(most) + " are accepted"});
}

inline void refuse_more_values(field_errors& out, std::string const& path, game_server_selector const& selector,
                               std::size_t most) {
  auto const& wanted = selector.labels.match_expressions;
  for (std::size_t i = 0; i != wanted.size() && out.size() < 10; ++i) {
    refuse_more(out, path + ".matchExpressions[" + std::to_string(i) + "].values", wanted[i].values.size(), most);
  }
}

inline void refuse_more_values(field_errors& out, std::string const& path,
                               std::vector<game_server_selector> const& selectors, std::size_t most) {
  for (std::size_t i = 0; i != selectors.size(); ++i) {
    refuse_more_values(out, path + "[" + std::to_string(i) + "]", selectors[i], most);
  }
}

inline auto same_ignoring_case(std::string_view a, std::string_view b) noexcept -> bool {
  auto const lowered = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lowered(x) == lowered(y); });
}

}  // namespace detail

AGONES_ALLOC_DECL auto check_bounds(allocation_spec const& spec, front_end_options const& options) -> field_errors {
  field_errors out;
  detail::refuse_more(out, "spec.selectors", spec.selectors.size(), options.max_selectors);
  detail::refuse_more(out, "spec.preferred", spec.preferred.size(), options.max_selectors);
  if (out.empty() && spec.selectors.size() + spec.preferred.size() > options.max_selectors) {
    detail::refuse_more(out, "spec.selectors with spec.preferred", spec.selectors.size() + spec.preferred.size(),
                        options.max_selectors);
  }
  if (spec.priorities) detail::refuse_more(out, "spec.priorities", spec.priorities->size(), options.max_priorities);
  if (!out.empty()) return out;
  detail::refuse_more_values(out, "spec.required", spec.required, options.max_label_values);
  detail::refuse_more_values(out, "spec.preferred", spec.preferred, options.max_label_values);
  detail::refuse_more_values(out, "spec.selectors", spec.selectors, options.max_label_values);
  return out;
}

AGONES_ALLOC_DECL auto has_foreign_origin(http_request const& request) -> bool {
  auto const origin = request.header("Origin");
  if (origin.empty()) return false;
  auto const begin = origin.find("://");
  return begin == std::string::npos ||
         !detail::same_ignoring_case(std::string_view{origin}.substr(begin + 3), request.header("Host"));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
