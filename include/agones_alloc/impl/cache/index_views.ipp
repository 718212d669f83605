#pragma once

#include <agones_alloc/cache/index/index_core.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

AGONES_ALLOC_DECL auto index_core::find_view(view_shape const& shape) -> index_view* {
  auto const found = by_shape_.find(shape);
  return found == by_shape_.end() ? nullptr : views_.at(*found);
}

/// The live view of a shape; made, and perhaps not complete, when there is none.
AGONES_ALLOC_DECL auto index_core::view_of(view_shape const& shape) -> index_view& {
  auto* found = find_view(shape);
  if (found != nullptr && found->worn_out() && found->waiters.empty() && found->last_pick != picks_) {
    drop(*found);
    found = nullptr;
  }
  auto& view = found != nullptr ? *found : make_view(shape);
  view.last_pick = picks_;
  return view;
}

/// About what a shape takes, so that views over few servers but many words are bounded, too.
inline auto bytes_of(view_shape const& shape) -> std::size_t {
  constexpr std::size_t each = 64;
  std::size_t sum = sizeof(index_view);
  for (auto const& clause : shape.selector.labels) {
    sum += each + clause.key.size();
    for (auto const& value : clause.values) sum += each + value.size();
  }
  for (auto const& [name, counter] : shape.selector.counters) sum += each + name.size() + sizeof counter;
  for (auto const& [name, list] : shape.selector.lists) sum += each + name.size() + list.contains_value.size() + sizeof list;
  for (auto const& one : shape.selector.at_most) sum += each + one.name.size() + sizeof one;
  for (auto const& p : shape.order.priorities) sum += each + p.key.size();
  return sum;
}

AGONES_ALLOC_DECL auto index_core::make_view(view_shape const& shape) -> index_view& {
  make_room();
  auto const ref = views_.emplace(shape, servers_);
  auto& view = *views_.get(ref);
  view.self = ref;
  by_shape_.insert(ref.index);
  if (shape.order.kind == order_kind::custom) ++custom_views_;
  list(view);
  shape_bytes_ += view.shape_bytes = bytes_of(shape);

  construction work{ref, label_sets_.candidates(shape.selector.labels), {}};
  std::vector<game_server const*> sample;
  auto const step = work.label_sets.size() / 64 + 1;
  for (std::size_t i = 0; i < work.label_sets.size(); i += step) {
    auto const* set = label_sets_.get(work.label_sets[i]);
    if (set == nullptr || set->namespace_ != shape.namespace_) continue;
    for (auto const member : {set->members.front(), set->members[set->members.size() / 2], set->members.back()}) {
      sample.push_back(servers_[member].server.get());
    }
  }
  view.expect(sample);
  if (work.label_sets.empty()) {
    finish(view);
  } else {
    constructions_.push_back(std::move(work));
  }
  return view;
}

AGONES_ALLOC_DECL void index_core::drop(index_view& view) {
  auto const ref = view.self;
  by_shape_.erase(by_shape_.find(view.shape));
  if (view.shape.order.kind == order_kind::custom) --custom_views_;
  unlist(view);
  shape_bytes_ -= view.shape_bytes;
  std::erase_if(constructions_, [ref](construction const& work) { return work.view == ref; });
  explained_.erase(ref.index);
  views_.erase(ref);
}

/// Looks at one view; called now and then.
AGONES_ALLOC_DECL void index_core::drop_idle_one() {
  if (views_.places() == 0) return;
  auto* view = views_.at((picks_ / 64) % views_.places());
  if (view == nullptr || !view->waiters.empty() || picks_ - view->last_pick <= options_.idle_picks) return;
  drop(*view);
}

/// Drops the longest unused views until one more fits. Those of the request at hand and watched ones stay.
AGONES_ALLOC_DECL void index_core::make_room() {
  for (;;) {
    std::size_t entries = 0;
    index_view* oldest = nullptr;
    for (std::size_t i = 0; i != views_.places(); ++i) {
      auto* view = views_.at(i);
      if (view == nullptr) continue;
      entries += view->free;
      if (!view->waiters.empty() || view->last_pick == picks_) continue;
      if (oldest == nullptr || view->last_pick < oldest->last_pick) oldest = view;
    }
    if (oldest == nullptr || (entries <= options_.max_entries && shape_bytes_ <= options_.max_shape_bytes && views_.size() < options_.max_views)) {
      return;
    }
    drop(*oldest);
  }
}

/// A new label set finds the view under the values of one clause, where it has a fitting one.
inline auto listing_clause(view_shape const& shape) -> label_clause const* {
  auto const& clauses = shape.selector.labels;
  auto const at = std::find_if(clauses.begin(), clauses.end(), [](label_clause const& c) { return c.op == label_operator::in; });
  return at == clauses.end() ? nullptr : &*at;
}

AGONES_ALLOC_DECL void index_core::list(index_view const& view) {
  auto const* clause = listing_clause(view.shape);
  if (clause == nullptr) return views_without_label_.push_back(view.self);
  for (auto const& value : clause->values) views_by_label_[label_hash(clause->key, value)].push_back(view.self);
}

AGONES_ALLOC_DECL void index_core::unlist(index_view const& view) {
  auto const* clause = listing_clause(view.shape);
  if (clause == nullptr) {
    std::erase(views_without_label_, view.self);
    return;
  }
  for (auto const& value : clause->values) {
    auto const at = views_by_label_.find(label_hash(clause->key, value));
    if (at == views_by_label_.end()) continue;
    std::erase(at->second, view.self);
    if (at->second.empty()) views_by_label_.erase(at);  // values come from requests: none may stay behind
  }
}

AGONES_ALLOC_DECL void index_core::accept(index_view& view, label_set& set) {
  if (set.namespace_ != view.shape.namespace_ || !matches_labels(view.shape.selector.labels, set.labels)) return;
  if (std::find(set.views.begin(), set.views.end(), view.self) == set.views.end()) set.views.push_back(view.self);
}

/// A label set is new: finds the views that accept it.
AGONES_ALLOC_DECL void index_core::introduce(label_set& set) {
  auto const offer = [&](std::vector<table_ref> const& views) {
    for (auto const ref : views) accept(*views_.get(ref), set);
  };
  offer(views_without_label_);
  for (auto const [key, value] : set.labels) {
    auto const at = views_by_label_.find(label_hash(key, value));
    if (at != views_by_label_.end()) offer(at->second);
  }
}

/// Lets the view under construction read its next label set; false when there is none.
AGONES_ALLOC_DECL auto index_core::read_next_label_set() -> bool {
  auto& work = constructions_.front();
  if (work.label_sets.empty()) return false;
  auto const ref = work.label_sets.back();
  work.label_sets.pop_back();
  reading_ = {};
  auto* set = label_sets_.get(ref);
  if (set == nullptr) return true;
  // References of dropped views would pile up where no server of the set changes.
  if (set->views.size() == set->views.capacity()) for_each_view(*set, [](index_view&) {});
  auto const before = set->views.size();
  accept(*views_.get(work.view), *set);
  if (set->views.size() == before) return true;
  work.members = set->members;
  reading_ = {work.view, ref.index, ++moment_};
  return true;
}

/// The last come next: asks for what placing them will touch, in stages, as each address stands in the one before.
AGONES_ALLOC_DECL void index_core::bring_members_near(std::vector<std::uint32_t> const& members) const {
  constexpr std::size_t stage = 4;
  auto const at = [&](std::size_t later) -> indexed_server const& { return servers_[members[members.size() - later]]; };
  if (members.size() >= 3 * stage) detail::bring_near(&at(3 * stage));
  if (members.size() >= 2 * stage && at(2 * stage).server) detail::bring_near(&at(2 * stage).server->meta.name);
  if (members.size() >= stage && at(stage).server) at(stage).server->meta.name.bring_near();
}

/// Works on the constructions in turn, as far as the budget goes.
AGONES_ALLOC_DECL void index_core::build() {
  for (; budget_ != 0 && !constructions_.empty(); --budget_) {
    auto& work = constructions_.front();
    auto& view = *views_.get(work.view);
    if (work.members.empty()) {
      if (read_next_label_set()) continue;
      reading_ = {};
      constructions_.pop_front();
      finish(view);
      continue;
    }
    auto const id = work.members.back();
    work.members.pop_back();
    bring_members_near(work.members);
    auto& server = servers_[id];
    if (server.touched > reading_.began) continue;  // it came, changed or went meanwhile, and that was counted
    server.touched = ++moment_;
    if (server.status == slot_status::free || server.status == slot_status::claimed) enter_view(view, id, server);
  }
}

AGONES_ALLOC_DECL void index_core::finish(index_view& view) {
  view.complete = true;
  if (view.waiters.empty()) return;
  view.flight_ended = view.in_flight == 0;
  signal(view);
}

AGONES_ALLOC_DECL auto index_core::build_some() -> bool {
  auto const behind = drain();
  build();
  return behind || !constructions_.empty();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
