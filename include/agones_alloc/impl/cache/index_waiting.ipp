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
  if (request.target() && request.target()->required) return watch_target(request, token);
  auto& views = waiting_[token].views;
  for (auto const& shape : request.shapes()) {
    auto& view = view_of(shape);
    view.waiters.insert(view.waiters.end(), token);
    views.push_back(view.self);
    if (view.free != 0) signal(view);
  }
}

/// Nothing but the end of the target's claim helps; the views of its selectors are not even built.
AGONES_ALLOC_DECL void index_core::watch_target(allocation_request const& request, std::uint64_t token) {
  auto const seen = cache_.lookup({request.shapes().front().namespace_, request.target()->name});
  waiting_[token].slot = seen.handle.id;
  if (seen.server && seen.status == slot_status::claimed) {
    waiters_by_slot_[seen.handle.id].insert(token);
  } else {
    woken_by_slot_.insert(token);
  }
}

AGONES_ALLOC_DECL void index_core::wake_slot(std::uint32_t id) {
  auto const at = waiters_by_slot_.find(id);
  if (at == waiters_by_slot_.end()) return;
  woken_by_slot_.merge(at->second);
  waiters_by_slot_.erase(at);
}

AGONES_ALLOC_DECL void index_core::unwatch(std::uint64_t token) {
  auto const at = waiting_.find(token);
  if (at == waiting_.end()) return;
  for (auto const ref : at->second.views) {
    if (auto* view = views_.get(ref)) view->waiters.erase(token);
  }
  if (at->second.slot) {
    if (auto const slot = waiters_by_slot_.find(*at->second.slot); slot != waiters_by_slot_.end()) {
      slot->second.erase(token);
      if (slot->second.empty()) waiters_by_slot_.erase(slot);
    }
    woken_by_slot_.erase(token);
  }
  waiting_.erase(at);
}

AGONES_ALLOC_DECL void index_core::take_woken(std::vector<std::uint64_t>& out) {
  for (auto const token : std::exchange(woken_by_slot_, {})) {
    waiting_.erase(token);
    out.push_back(token);
  }
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
