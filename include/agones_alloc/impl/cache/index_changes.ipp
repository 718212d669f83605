#pragma once

#include <agones_alloc/cache/index/index_core.hpp>
#include <agones_alloc/cache/index/prefetch.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// What taking in the change will touch, when its record and the index's are near.
AGONES_ALLOC_DECL void index_core::bring_known_near(slot_view const& change) const {
  if (change.server) change.server->meta.name.bring_near();
  if (!servers_.has(change.handle.id)) return;
  auto const& known = servers_[change.handle.id];
  if (known.server && known.server != change.server) bring_record_near(known.server.get());
}

AGONES_ALLOC_DECL auto index_core::drain() -> bool {
  budget_ = options_.slice;
  return drain_some();
}

/// Ends a claim in the cache by `end(slot_view*)` and takes in what there is then; where there was no such claim: nothing.
template <class End>
void index_core::end_claim(End end, written_claim const* written) {
  slot_view now;
  end(&now);
  if (now.handle.version != 0) apply(std::move(now), false, written);
}

AGONES_ALLOC_DECL void index_core::put_back(server_handle handle) {
  end_claim([&](slot_view* now) { cache_.put_back(handle, now); });
}

AGONES_ALLOC_DECL void index_core::settle(server_handle handle, game_server_ptr written, written_claim const* claim) {
  end_claim([&](slot_view* now) { cache_.settle(handle, std::move(written), now); }, claim);
}

AGONES_ALLOC_DECL void index_core::discard(server_handle handle) {
  end_claim([&](slot_view* now) { cache_.discard(handle, now); });
}

AGONES_ALLOC_DECL void index_core::remove(server_handle handle) {
  end_claim([&](slot_view* now) { cache_.remove(handle, now); });
}

AGONES_ALLOC_DECL auto index_core::drain_some() -> bool {
  if (!cache_.has_changes()) return false;
  follow_open_nodes();
  if (budget_ == 0) return true;
  taken_.clear();
  auto const more = cache_.take_changes(taken_, budget_);
  budget_ -= taken_.size();
  constexpr std::size_t ahead = 4;
  for (std::size_t i = 0; i != taken_.size(); ++i) {
    if (i + 2 * ahead < taken_.size()) {
      auto const& later = taken_[i + 2 * ahead];
      servers_.bring_near(later.handle.id);
      if (later.server) bring_record_near(later.server.get());
    }
    if (i + ahead < taken_.size()) bring_known_near(taken_[i + ahead]);
    apply(std::move(taken_[i]));
  }
  taken_.clear();
  return more;
}

AGONES_ALLOC_DECL void index_core::follow_open_nodes() {
  if (auto news = cache_.take_open_nodes()) {
    nodes_.set_open(*std::move(news));
  }
}

AGONES_ALLOC_DECL void index_core::leave_views(std::uint32_t id, indexed_server const& server) {
  if (server.status != slot_status::free && server.status != slot_status::claimed) return;
  for_each_view(label_sets_[server.label_set], [&](index_view& view) {
    if (!counts(view, server) || !view.accepts(server)) return;
    if (server.status == slot_status::free) {
      view.erase(id);
    } else if (--view.in_flight == 0 && !view.waiters.empty()) {
      view.flight_ended = true;
      signal(view);
    }
  });
}

AGONES_ALLOC_DECL void index_core::enter_view(index_view& view, std::uint32_t id, indexed_server const& server) {
  if (!view.accepts(server)) return;
  if (server.status == slot_status::claimed) {
    ++view.in_flight;
  } else {
    view.insert(id, nodes_);
    if (!view.waiters.empty()) signal(view);
  }
}

AGONES_ALLOC_DECL void index_core::enter_views(std::uint32_t id, indexed_server const& server) {
  if (server.status != slot_status::free && server.status != slot_status::claimed) return;
  for_each_view(label_sets_[server.label_set], [&](index_view& view) { enter_view(view, id, server); });
}

/// The server was claimed for a pick: as leave_views and enter_views would do it, in one go.
AGONES_ALLOC_DECL void index_core::note_claim(std::uint32_t id, indexed_server& server) {
  for_each_view(label_sets_[server.label_set], [&](index_view& view) {
    if (!view.accepts(server)) return;
    if (counts(view, server)) view.erase(id);
    ++view.in_flight;
  });
  server.status = slot_status::claimed;
  server.touched = ++moment_;
  ++server.placement;
}

AGONES_ALLOC_DECL void index_core::move_node(indexed_server& known, game_server const* now) {
  auto const* old = known.server.get();
  auto const before = known.node;
  auto const stays = old != nullptr && now != nullptr && old->status.node_name == now->status.node_name;
  if (stays && old->status.state == now->status.state) return;
  if (old != nullptr) nodes_.leave(before, known.state);
  if (now != nullptr) {
    if (stays) {
      nodes_.enter(before, now->status.state);
    } else {
      known.node = nodes_.enter(now->status.node_name, now->status.state);
      nodes_.note_change(known.node);
    }
  }
  if (old == nullptr) return;
  nodes_.note_change(before);
  nodes_.forget_if_empty(before);
}

AGONES_ALLOC_DECL void index_core::move_label_set(std::uint32_t id, indexed_server& known, game_server const* now) {
  auto const* old = known.server.get();
  auto const is_allocated = [](game_server const* server) {
    return server != nullptr && server->status.state == game_server_state::allocated ? 1U : 0U;
  };
  if (old != nullptr && now != nullptr && old->meta.labels == now->meta.labels &&
      old->meta.namespace_ == now->meta.namespace_) {
    auto& allocated = label_sets_[known.label_set].allocated;
    allocated = allocated + is_allocated(now) - is_allocated(old);
    return;
  }
  if (old != nullptr) {
    auto const index = known.label_set;
    label_sets_[index].allocated -= is_allocated(old);
    if (auto const moved = label_sets_.leave(index, known.member)) servers_[*moved].member = known.member;
    label_sets_.forget_if_empty(index);
  }
  if (now == nullptr) return;
  auto const [index, made] = label_sets_.intern(now->meta.namespace_, now->meta.labels);
  if (made) introduce(label_sets_[index]);
  known.label_set = index;
  known.member = label_sets_.join(index, id);
  label_sets_[index].allocated += is_allocated(now);
}

/// True when no view could tell the difference.
AGONES_ALLOC_DECL auto index_core::keeps_place(indexed_server const& known, slot_view const& now) const -> bool {
  if (known.status != slot_status::free || now.status != slot_status::free || custom_views_ != 0) return false;
  auto const& a = *known.server;
  auto const& b = *now.server;
  auto const same_players = a.status.players == b.status.players ||
                            (a.status.players && b.status.players && *a.status.players == *b.status.players);
  return a.status.state == b.status.state && a.status.node_name == b.status.node_name && same_players &&
         a.meta.name == b.meta.name && a.meta.namespace_ == b.meta.namespace_ &&
         a.meta.creation_timestamp == b.meta.creation_timestamp && a.meta.labels == b.meta.labels &&
         a.status.counters == b.status.counters && a.status.lists == b.status.lists;
}

/// With `taken_out` a view has given up its entry of this server, so it has to be placed anew in any case.
AGONES_ALLOC_DECL void index_core::apply(slot_view now, bool taken_out, written_claim const* written) {
  auto const id = now.handle.id;
  auto& known = servers_.at(id);
  if (!taken_out && known.version == now.handle.version && known.status == now.status) return;
  known.version = now.handle.version;
  known.slot = now.memory;
  ++changes_;
  claims_.follow(id, known.server.get(), now.server.get(), written);
  if (!taken_out && keeps_place(known, now)) {
    known.server = std::move(now.server);
    return;
  }
  if (known.server) leave_views(id, known);
  auto const was = waiters_by_target_.empty() ? nullptr : known.server;
  move_node(known, now.server.get());
  move_label_set(id, known, now.server.get());
  known.status = now.status;
  known.state = now.server ? now.server->status.state : game_server_state::unset;
  known.server = std::move(now.server);
  known.touched = ++moment_;
  ++known.placement;
  if (known.server) enter_views(id, known);
  if (waiters_by_target_.empty() || known.status == slot_status::claimed) return;
  if (auto const& changed = known.server ? known.server : was) wake_target(*changed);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
