#pragma once

#include <agones_alloc/cache/index/index_core.hpp>
#include <agones_alloc/cache/room_report.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Whether no server can match both: another state, or a label that cannot have two values.
inline auto exclude_each_other(compiled_selector const& a, compiled_selector const& b) noexcept -> bool {
  if (a.state && b.state && *a.state != *b.state) return true;
  for (auto const& one : a.labels) {
    if (one.op != label_operator::in) continue;
    for (auto const& other : b.labels) {
      if (other.op != label_operator::in || other.key != one.key) continue;
      auto const shared = std::any_of(one.values.begin(), one.values.end(), [&](shared_string const& value) {
        return std::binary_search(other.values.begin(), other.values.end(), value);
      });
      if (!shared) return true;
    }
  }
  return false;
}

AGONES_ALLOC_DECL auto index_core::look(allocation_request const& request, std::size_t names, room_report& out) -> bool {
  constexpr std::size_t of_a_look = 8;
  budget_ = std::min(options_.slice, budget_ + of_a_look);
  auto const behind = drain_some();
  out.selectors.clear();
  out.first.clear();
  out.fits = 0;
  out.exact = true;
  std::vector<view_shape const*> counted;
  for (std::size_t i = 0; i != request.shapes().size(); ++i) {
    auto const& shape = request.shapes()[i];
    if (shape.selector.share.count > 1) continue;  // the selector's other shape has all
    auto& view = view_of(shape);
    if (!view.complete) build();
    if (!view.complete) {
      resumed_ = &request;
      return false;
    }
    out.selectors.push_back({view.free, view.in_flight});
    out.exact = out.exact && std::all_of(counted.begin(), counted.end(), [&](view_shape const* other) {
      return exclude_each_other(other->selector, shape.selector);
    });
    counted.push_back(&shape);
    auto const wanted = std::min<std::size_t>(names - std::min(names, out.first.size()), view.free);
    for (auto const id : view.first(wanted, nodes_)) {
      auto const& server = servers_[id].server;
      auto const same = [&](game_server_ptr const& known) { return known->meta.name == server->meta.name; };
      if (std::none_of(out.first.begin(), out.first.end(), same)) out.first.push_back(server);
    }
  }
  for (auto const& one : out.selectors) out.fits = out.exact ? out.fits + one.free : std::max(out.fits, one.free);
  return !behind;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
