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

AGONES_ALLOC_DECL void index_core::watch(allocation_request const& request, std::uint64_t token, bool patient) {
  unwatch(token);
  if (request.target() && request.target()->required) return watch_target(request, token);
  auto& views = waiting_[token].views;
  for (auto const& shape : request.shapes()) {
    auto& view = view_of(shape);
    if (view.waiters.empty()) ++watched_views_;
    view.waiters.insert(view.waiters.end(), token);
    if (!patient) view.restless.insert(view.restless.end(), token);
    views.push_back(view.self);
    if (view.free != 0) signal(view);
  }
}

/// Nothing but a change of the target helps; the views of its selectors are not even built.
AGONES_ALLOC_DECL void index_core::watch_target(allocation_request const& request, std::uint64_t token) {
  object_key key{request.shapes().front().namespace_, request.target()->name};
  auto const seen = cache_.lookup(key);
  auto const& uid = request.target()->uid;
  auto const worth_a_try = seen.server && seen.status == slot_status::free && (uid.empty() || seen.server->meta.uid == uid) &&
                           std::any_of(request.shapes().begin(), request.shapes().end(),
                                       [&](view_shape const& shape) { return matches(shape.selector, *seen.server); });
  if (worth_a_try) {
    woken_by_target_.insert(token);
  } else {
    waiters_by_target_[key].insert(token);
  }
  waiting_[token].target = std::move(key);
}

AGONES_ALLOC_DECL void index_core::wake_target(game_server const& changed) {
  auto const at = waiters_by_target_.find(key_of(changed.meta));
  if (at == waiters_by_target_.end()) return;
  woken_by_target_.merge(at->second);
  waiters_by_target_.erase(at);
}

AGONES_ALLOC_DECL auto index_core::take_waiter(view_shape const& shape) -> std::optional<std::uint64_t> {
  auto const* view = find_view(shape);
  if (view == nullptr || view->waiters.empty()) return std::nullopt;
  auto const token = *view->waiters.begin();
  unwatch(token);
  return token;
}

/// Watched views are not dropped, so their number is bounded here.
AGONES_ALLOC_DECL auto index_core::has_room_to_watch(allocation_request const& request, std::size_t most) -> bool {
  if (request.target() && request.target()->required) {
    auto const at = waiters_by_target_.find({request.shapes().front().namespace_, request.target()->name});
    return at == waiters_by_target_.end() || at->second.size() < most;
  }
  std::size_t fresh = 0;
  for (auto const& shape : request.shapes()) {
    auto const* view = find_view(shape);
    auto const waiters = view == nullptr ? 0 : view->waiters.size();
    if (waiters >= most) return false;
    if (waiters == 0) ++fresh;
  }
  return fresh == 0 || watched_views_ + fresh <= options_.max_views;
}

AGONES_ALLOC_DECL void index_core::unwatch(std::uint64_t token) {
  auto const at = waiting_.find(token);
  if (at == waiting_.end()) return;
  for (auto const ref : at->second.views) {
    auto* const view = views_.get(ref);
    if (view == nullptr || view->waiters.erase(token) == 0) continue;
    view->restless.erase(token);
    if (view->waiters.empty()) --watched_views_;
  }
  if (at->second.target) {
    if (auto const target = waiters_by_target_.find(*at->second.target); target != waiters_by_target_.end()) {
      target->second.erase(token);
      if (target->second.empty()) waiters_by_target_.erase(target);
    }
    woken_by_target_.erase(token);
  }
  waiting_.erase(at);
}

AGONES_ALLOC_DECL void index_core::take_woken(std::vector<std::uint64_t>& out) {
  auto const first = out.size();
  for (auto const token : std::exchange(woken_by_target_, {})) {
    waiting_.erase(token);
    out.push_back(token);
  }
  auto const signalled = std::exchange(signalled_, {});
  for (auto const ref : signalled) {
    auto* view = views_.get(ref);
    if (view == nullptr) continue;
    view->signalled = false;
    auto const ended = view->flight_ended && view->free == 0 && view->in_flight == 0;
    auto const& woken = ended ? view->restless : view->waiters;
    auto wakes = ended ? woken.size() : std::min(view->free, woken.size());
    // While there are free servers the end of the last flight may still become news: they can be deleted.
    if (ended || view->in_flight != 0) view->flight_ended = false;
    for (; wakes != 0 && !woken.empty(); --wakes) {
      auto const token = *woken.begin();
      unwatch(token);
      out.push_back(token);
    }
    if (view->free != 0 && !view->waiters.empty()) signal(*view);
  }
  // A server that several views have goes to the oldest of all who wait for it.
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
