// What of a label selector the allocation service can say (Q10).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/detail/place.hpp>
#include <agones_alloc/model/selector.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

/// Expressions that amount to a label become labels, which old remotes know, too. `expressions`: others may be said as such;
/// else they are refused.
inline auto forwarded_labels(label_selector const& selector, place const& at, bool expressions, label_selector& out)
    -> std::optional<decode_error> {
  out = {selector.match_labels, {}};
  for (std::size_t i = 0; i < selector.match_expressions.size(); ++i) {
    auto const& one = selector.match_expressions[i];
    bool const single = one.op == "In" && one.values.size() == 1;
    auto const known = single ? out.match_labels.find(one.key) : std::nullopt;
    bool const contradicts = known && *known != one.values.front().view();
    if (single && !contradicts) {
      out.match_labels.set(one.key, one.values.front());
    } else if (expressions) {
      out.match_expressions.push_back(one);
    } else {
      std::string_view const why = contradicts ? "contradicts another label of the selector"
                                               : "cannot be forwarded to another cluster: only In with one value can";
      auto const list = at.member("matchExpressions");
      return decode_error{decode_fault::unsupported, list.element(i).text(), std::string{why}, 0, 0, 0};
    }
  }
  return std::nullopt;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
