#pragma once

#include <agones_alloc/cache/index/index_core.hpp>
#include <agones_alloc/cache/index/prefetch.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Asks for what later picks need: waiting for it would be most of a step. In stages, as each address stands in what the
/// stage before brings; picks can follow each other faster than memory answers, so the stages are more than one apart.
AGONES_ALLOC_DECL void index_core::bring_near(index_view& view) {
  view.bring_near();
  if (auto const far = view.ahead(5)) servers_.bring_near(*far);
  if (auto const later = view.ahead(3)) {
    auto const& server = servers_[*later];
    detail::bring_near(server.slot);
    if (server.server) bring_record_near(server.server.get());
  }
  if (auto const soon = view.ahead(1)) {
    auto const& server = servers_[*soon].server;  // null where a random draw will meet a void entry
    if (server) bring_parts_near(*server);
  }
}

/// Claims a server of a complete view; false when it has none that is free.
AGONES_ALLOC_DECL auto index_core::claim_from(index_view& view, std::uint32_t top_n, random_source& random, pick& out)
    -> bool {
  while (view.free != 0) {
    auto const id = view.choose(top_n, random, nodes_);
    auto& server = servers_[id];
    out.handle = {id, server.version};
    out.server = cache_.claim(out.handle);
    if (out.server) {
      out.game_confirms = label_sets_[server.label_set].game_confirms;
      note_claim(id, server);
      bring_near(view);
      return true;
    }
    ++lost_claims_;
    apply(cache_.read(id), true);  // somebody changed it: see how, and choose again
  }
  return false;
}

AGONES_ALLOC_DECL auto index_core::pick_target(allocation_request const& request, pick& out) -> pick_status {
  auto const& target = *request.target();
  auto const& shapes = request.shapes();
  object_key const key{shapes.front().namespace_, target.name};
  auto const shape_of = [&](game_server const& server) {
    auto const meant = target.uid.empty() || server.meta.uid == target.uid;
    return meant ? std::find_if(shapes.begin(), shapes.end(), [&](view_shape const& s) { return matches(s.selector, server); })
                 : shapes.end();
  };
  for (;;) {
    auto const seen = cache_.lookup(key);
    if (!seen.server || seen.status == slot_status::stale) return pick_status::none;
    auto const shape = shape_of(*seen.server);
    if (seen.status == slot_status::claimed) {
      if (shape != shapes.end()) return pick_status::busy;
      // What it has become since, by somebody else's hand, counts when the claim ends.
      auto const newest = cache_.find(key);
      return newest && shape_of(*newest) != shapes.end() ? pick_status::busy : pick_status::none;
    }
    if (shape == shapes.end()) return pick_status::none;
    out.server = cache_.claim(seen.handle);
    if (!out.server) continue;
    out.handle = seen.handle;
    out.selector = static_cast<std::uint32_t>(request.selector_of(static_cast<std::size_t>(shape - shapes.begin())));
    apply({seen.handle, slot_status::claimed, out.server, seen.memory});
    return pick_status::picked;
  }
}

AGONES_ALLOC_DECL auto index_core::pick_and_claim(allocation_request const& request, random_source& random, pick& out,
                                                  std::size_t shapes) -> pick_status {
  constexpr std::size_t of_a_pick = 8;  // a caller who does nothing but pick must not fall behind for good
  budget_ = std::min(options_.slice, budget_ + of_a_pick);
  auto const behind = drain_some();
  // Going on with a request is not a new pick: it must not lose the views it has built so far.
  if (resumed_ != &request && ++picks_ % 64 == 0) drop_idle_one();
  resumed_ = nullptr;
  if (request.target()) {
    auto const status = pick_target(request, out);
    if (status == pick_status::picked || request.target()->required) return status;
  }
  auto in_flight = false;
  for (std::size_t i = 0; i != std::min(shapes, request.shapes().size()); ++i) {
    auto& view = view_of(request.shapes()[i]);
    if (!view.complete) build();
    if (!view.complete) {
      resumed_ = &request;
      return pick_status::building;
    }
    if (claim_from(view, request.top_n_of(i), random, out)) {
      out.selector = static_cast<std::uint32_t>(request.selector_of(i));
      return pick_status::picked;
    }
    in_flight = in_flight || view.in_flight != 0;
  }
  if (behind) return pick_status::building;
  return in_flight ? pick_status::busy : pick_status::none;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
