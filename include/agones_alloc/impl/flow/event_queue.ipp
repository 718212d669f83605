#pragma once

#include <agones_alloc/flow/event_queue.hpp>

#include <iterator>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// The more it says, the larger.
inline auto weight_of(object_change what) noexcept -> int {
  switch (what) {
    case object_change::updated: return 0;
    case object_change::added: return 1;
    case object_change::allocated:
    case object_change::released: return 2;
    case object_change::deleted: break;
  }
  return 3;
}

}  // namespace detail

AGONES_ALLOC_DECL void event_queue::merge(node& into, object_event&& newer) {
  auto& older = into.event;
  newer.merged += older.merged + 1;
  newer.before = older.before;
  if (detail::weight_of(older.what) > detail::weight_of(newer.what)) newer.what = older.what;
  older = std::move(newer);
  bytes_ -= into.bytes;
  into.bytes = held_bytes(older);
  bytes_ += into.bytes;
  ++counts_.merged;
}

AGONES_ALLOC_DECL void event_queue::push(object_event event) {
  auto about = identity_of(event);
  auto& of = objects_[about];
  if (of.waiting > 0 && waiting_.size() >= options_.merge_from) {
    merge(**of.last, std::move(event));
  } else {
    auto const bytes = held_bytes(event);
    waiting_.push_back({std::move(event), std::move(about), bytes});
    bytes_ += bytes;
    if (of.waiting++ > 0) ++repeats_;
    of.last = std::prev(waiting_.end());
  }
  while (too_full() && !waiting_.empty()) repeats_ > 0 ? merge_all() : drop_oldest();
}

// Each object's events into its first one, which keeps its place: nothing overtakes what it may depend on.
AGONES_ALLOC_DECL void event_queue::merge_all() {
  boost::unordered_flat_map<object_identity, order::iterator, object_identity_hash> firsts;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    auto& of = objects_.find(at->about)->second;
    if (of.waiting == 1) {
      ++at;
      continue;
    }
    auto const [first, fresh] = firsts.emplace(at->about, at);
    if (fresh) {
      ++at;
      continue;
    }
    bytes_ -= at->bytes;
    merge(*first->second, std::move(at->event));
    at = waiting_.erase(at);
  }
  for (auto const& [about, first] : firsts) {
    auto& of = objects_.find(about)->second;
    of.waiting = 1;
    of.last = first;
  }
  repeats_ = 0;
}

AGONES_ALLOC_DECL void event_queue::drop_oldest() {
  auto const& oldest = waiting_.front();
  ++counts_.dropped;
  bytes_ -= oldest.bytes;
  auto const of = objects_.find(oldest.about);
  if (--of->second.waiting > 0) {
    --repeats_;
  } else if (of->second.in_hand > 0) {
    of->second.last.reset();
  } else {
    objects_.erase(of);
  }
  waiting_.pop_front();
}

AGONES_ALLOC_DECL auto event_queue::can_take() const -> bool {
  return !waiting_.empty() && objects_.find(waiting_.front().about)->second.in_hand == 0;
}

AGONES_ALLOC_DECL auto event_queue::take(std::size_t most, std::size_t most_bytes) -> std::vector<object_event> {
  std::vector<object_event> out;
  std::vector<place*> taken;
  std::size_t bytes = 0;
  while (!waiting_.empty() && out.size() < most) {
    auto& oldest = waiting_.front();
    auto& of = objects_.find(oldest.about)->second;
    if (of.in_hand > 0 || (!out.empty() && bytes + oldest.bytes > most_bytes)) break;
    bytes += oldest.bytes;
    bytes_ -= oldest.bytes;
    out.push_back(std::move(oldest.event));
    // Several of one object may go together, in order: it counts as in hand only when all are chosen.
    taken.push_back(&of);
    if (--of.waiting > 0) {
      --repeats_;
    } else {
      of.last.reset();
    }
    waiting_.pop_front();
  }
  for (auto* of : taken) ++of->in_hand;
  return out;
}

AGONES_ALLOC_DECL void event_queue::let_go(object_event const& event) {
  auto const of = objects_.find(identity_of(event));
  if (of == objects_.end() || of->second.in_hand == 0) return;
  if (--of->second.in_hand == 0 && of->second.waiting == 0) objects_.erase(of);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
