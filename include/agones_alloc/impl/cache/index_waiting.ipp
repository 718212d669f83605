#pragma once

#include <agones_alloc/cache/index/index_core.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Puts the view on the list of those whose waiters may have something to do.
AGONES_ALLOC_DECL void index_core::signal(index_view& view) {
  if (std::exchange(view.signalled, true)) return;
  signalled_.push_back(view.self);
}

AGONES_ALLOC_DECL void index_core::watch(allocation_request const& request, std::uint64_t token) {
  unwatch(token);
  auto& views = waiting_[token];
  for (auto const& shape : request.shapes()) {
    auto& view = view_of(shape);
    view.waiters.insert(view.waiters.end(), token);
    views.push_back(view.self);
    if (view.free != 0) signal(view);
  }
}

AGONES_ALLOC_DECL void index_core::unwatch(std::uint64_t token) {
  auto const at = waiting_.find(token);
  if (at == waiting_.end()) return;
  for (auto const ref : at->second) {
    if (auto* view = views_.get(ref)) view->waiters.erase(token);
  }
  waiting_.erase(at);
}

AGONES_ALLOC_DECL void index_core::take_woken(std::vector<std::uint64_t>& out) {
  auto const signalled = std::exchange(signalled_, {});
  for (auto const ref : signalled) {
    auto* view = views_.get(ref);
    if (view == nullptr) continue;
    view->signalled = false;
    auto const ended = view->flight_ended && view->free == 0 && view->in_flight == 0;
    auto wakes = ended ? view->waiters.size() : std::min(view->free, view->waiters.size());
    // While there are free servers the end of the last flight may still become news: they can be deleted.
    if (ended || view->in_flight != 0) view->flight_ended = false;
    for (; wakes != 0 && !view->waiters.empty(); --wakes) {
      auto const token = *view->waiters.begin();
      unwatch(token);
      out.push_back(token);
    }
    if (view->free != 0 && !view->waiters.empty()) signal(*view);
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
