#pragma once

#include <agones_alloc/cache/ready_cache.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

template <class Mutex>
basic_ready_cache<Mutex>::basic_ready_cache(cache_options options)
    : stripe_mask_{std::bit_ceil(std::clamp<std::size_t>(options.stripes, 1, 64)) - 1},
      stripe_bits_{static_cast<std::uint32_t>(std::popcount(stripe_mask_))},
      remembered_removals_{options.remembered_removals},
      stripes_{std::make_unique<stripe[]>(stripe_mask_ + 1)},
      sharing_{options.shared_label_sets, options.shared_words} {}

template <class Mutex>
auto basic_ready_cache<Mutex>::view_of(stripe const& in, std::uint32_t local) const -> slot_view {
  auto const& slot = in.at(local);
  return {{id_of(in, local), slot.version}, slot.status, slot.server, &slot};
}

template <class Mutex>
void basic_ready_cache<Mutex>::mark(stripe& in, std::uint32_t local, change_is change) {
  auto& slot = in.at(local);
  slot.version = in.next_version();
  if (slot.queued || change == change_is::told) return;
  slot.queued = true;
  in.changed.push_back(local);
  if (in.changed.size() == 1) changed_stripes_.fetch_or(bit_of(in));
}

template <class Mutex>
void basic_ready_cache<Mutex>::notify() {
  if (hook_ && changed() && !notified_.exchange(true)) hook_();
}

template <class Mutex>
void basic_ready_cache<Mutex>::release(stripe& in, std::uint32_t local, game_server const& last, why_released why,
                                       change_is change) {
  if (remembered_removals_ != 0) {
    if (in.removed.size() >= remembered_removals_) in.removed.pop_front();
    auto const& meta = last.meta;
    in.removed.push_back({in.at(local).hash, why == why_released::deleted, why == why_released::unlisted, meta.namespace_,
                          meta.name, meta.uid, meta.resource_version});
  }
  in.take_out(local);
  mark(in, local, change);
}

template <class Mutex>
auto basic_ready_cache<Mutex>::set(stripe& in, std::uint32_t local, game_server_ptr server, change_is change) -> store_outcome {
  if (!is_allocatable(*server)) {
    release(in, local, *server, why_released::not_allocatable, change);
    return store_outcome::removed;
  }
  auto& slot = in.at(local);
  slot.server = std::move(server);
  slot.status = slot_status::free;
  mark(in, local, change);
  return store_outcome::stored;
}

template <class Mutex>
auto basic_ready_cache<Mutex>::was_removed(stripe const& in, std::uint32_t hash, game_server const& server) const -> bool {
  auto const& meta = server.meta;
  auto const last = std::find_if(in.removed.rbegin(), in.removed.rend(), [&](detail::removed_server const& known) {
    return known.hash == hash && known.uid == meta.uid && known.name == meta.name && known.namespace_ == meta.namespace_;
  });
  if (last == in.removed.rend()) return false;
  if (last->gone && !last->uid.empty()) return true;
  if (last->unlisted && meta.resource_version == last->resource_version) return false;
  return !is_newer_version(meta.resource_version, last->resource_version);
}

template <class Mutex>
void basic_ready_cache<Mutex>::see(stripe& in, std::uint32_t local, detail::seen_meanwhile seen) {
  auto& known = in.meanwhile[local];
  seen_claims_.follow(id_of(in, local), known.newest.get(), seen.newest.get());
  known = std::move(seen);
}

template <class Mutex>
auto basic_ready_cache<Mutex>::store_claimed(stripe& in, std::uint32_t local, game_server_ptr server) -> store_outcome {
  auto const& claimed = *in.at(local).server;
  auto const at = in.meanwhile.find(local);
  auto seen = at == in.meanwhile.end() ? detail::seen_meanwhile{} : at->second;
  auto const& known = seen.newest ? *seen.newest : claimed;
  auto const same_server = server->meta.uid == claimed.meta.uid;
  // It exists after all: the list that lacked it was older.
  auto const listed = seen.unlisted && same_server && !is_newer(known, *server);
  if (listed) seen.gone = seen.unlisted = false;
  auto const comes_late = seen.gone && same_server && !server->meta.uid.empty();
  if (comes_late || !is_newer(*server, known)) {
    if (listed) see(in, local, std::move(seen));
    return store_outcome::stale;
  }
  if (!same_server) {
    seen.gone = true;
    seen.unlisted = false;
  }
  auto const pickable = is_allocatable(*server);
  seen.newest = std::move(server);
  see(in, local, std::move(seen));
  return pickable ? store_outcome::stored : store_outcome::removed;
}

template <class Mutex>
auto basic_ready_cache<Mutex>::store(game_server_ptr server) -> store_outcome {
  server = sharing_.share(std::move(server));
  auto const& meta = server->meta;
  auto const hash = detail::key_hash(meta.namespace_, meta.name);
  auto& in = stripe_of(hash);
  auto outcome = store_outcome::stale;
  {
    guard const lock{in.mutex};
    auto const found = in.find(hash, meta.namespace_, meta.name);
    if (found) {
      auto& slot = in.at(*found);
      slot.list = list_.load(std::memory_order_relaxed);
      if (slot.status == slot_status::claimed) return store_claimed(in, *found, std::move(server));
      if (!is_newer(*server, *slot.server)) return store_outcome::stale;
      outcome = set(in, *found, std::move(server));
    } else {
      if (!is_allocatable(*server)) return store_outcome::ignored;
      if (was_removed(in, static_cast<std::uint32_t>(hash), *server)) return store_outcome::stale;
      auto const local = in.insert(hash, std::move(server));
      auto& slot = in.at(local);
      slot.list = list_.load(std::memory_order_relaxed);
      slot.status = slot_status::free;
      mark(in, local);
      outcome = store_outcome::stored;
    }
  }
  notify();
  return outcome;
}

template <class Mutex>
auto basic_ready_cache<Mutex>::erase(object_key const& key, std::string_view uid) -> bool {
  auto const hash = detail::key_hash(key.namespace_, key.name);
  auto& in = stripe_of(hash);
  {
    guard const lock{in.mutex};
    auto const found = in.find(hash, key.namespace_, key.name);
    if (!found) return false;
    auto& slot = in.at(*found);
    auto const is_meant = [uid](game_server const& server) { return uid.empty() || server.meta.uid == uid; };
    if (slot.status == slot_status::claimed) {
      auto const at = in.meanwhile.find(*found);
      auto const newest = at == in.meanwhile.end() ? game_server_ptr{} : at->second.newest;
      if (newest && !is_meant(*newest)) return false;  // the claimed one's end is known already, or it is that server
      if (!newest && !is_meant(*slot.server)) return false;
      see(in, *found, {nullptr, true, false, {}});
      return true;
    }
    if (!is_meant(*slot.server)) return false;
    release(in, *found, *slot.server, why_released::deleted);
  }
  notify();
  return true;
}

template <class Mutex>
void basic_ready_cache<Mutex>::drop_unlisted(stripe& in, std::uint32_t list, shared_string const& version) {
  guard const lock{in.mutex};
  for (std::uint32_t local = 0; local != in.slots(); ++local) {
    auto& slot = in.at(local);
    if (slot.status == slot_status::absent || slot.list == list) continue;
    if (slot.status == slot_status::claimed) {
      auto const at = in.meanwhile.find(local);
      auto const unlisted = at == in.meanwhile.end() || !at->second.gone || at->second.unlisted;
      see(in, local, {nullptr, true, unlisted, version});
    } else {
      release(in, local, *slot.server, why_released::unlisted);
    }
  }
}

template <class Mutex>
void basic_ready_cache<Mutex>::replace_all(std::span<game_server_ptr const> servers, std::string_view version) {
  auto const list = list_.fetch_add(1) + 1;
  shared_string const shared_version{version};
  for (auto const& server : servers) store(server);
  for (std::size_t i = 0; i <= stripe_mask_; ++i) drop_unlisted(stripes_[i], list, shared_version);
  notify();
}

template <class Mutex>
auto basic_ready_cache<Mutex>::claim(server_handle handle) -> game_server_ptr {
  auto& in = stripe_of(handle.id);
  guard const lock{in.mutex};
  auto const local = local_of(handle.id);
  if (local >= in.slots()) return nullptr;
  auto& slot = in.at(local);
  if (slot.status != slot_status::free || slot.version != handle.version) return nullptr;
  slot.status = slot_status::claimed;
  ++in.claimed;
  return slot.server;
}

template <class Mutex>
template <class F>
void basic_ready_cache<Mutex>::end_claim(server_handle handle, slot_status otherwise, slot_view* after, F amend) {
  auto const change = after != nullptr ? change_is::told : change_is::listed;
  auto& in = stripe_of(handle.id);
  guard const lock{in.mutex};
  auto const local = local_of(handle.id);
  if (local >= in.slots()) return;
  auto& slot = in.at(local);
  if (slot.status != slot_status::claimed || slot.version != handle.version) return;
  --in.claimed;
  detail::seen_meanwhile seen;
  if (!in.meanwhile.empty()) {
    if (auto const at = in.meanwhile.find(local); at != in.meanwhile.end()) {
      seen = std::move(at->second);
      in.meanwhile.erase(at);
      seen_claims_.follow(handle.id, seen.newest.get(), nullptr);
    }
  }
  amend(slot, seen);
  if (seen.newest) {
    set(in, local, std::move(seen.newest), change);
  } else if (seen.gone) {
    release(in, local, *slot.server, seen.unlisted ? why_released::unlisted : why_released::deleted, change);
  } else {
    slot.status = otherwise;
    mark(in, local, change);
  }
  if (after != nullptr) *after = view_of(in, local);
}

template <class Mutex>
void basic_ready_cache<Mutex>::put_back(server_handle handle, slot_view* after) {
  end_claim(handle, slot_status::free, after, [](detail::server_slot&, detail::seen_meanwhile&) {});
}

template <class Mutex>
void basic_ready_cache<Mutex>::settle(server_handle handle, game_server_ptr written, slot_view* after) {
  end_claim(handle, slot_status::free, after, [&](detail::server_slot& slot, detail::seen_meanwhile& seen) {
    auto const& claimed = *slot.server;
    auto const of_claimed = written->meta.uid == claimed.meta.uid;
    // The store had it, so the list that lacked it was older, unless its version says that it was deleted since.
    auto const since = seen.list_version.empty() || is_newer_version(written->meta.resource_version, seen.list_version);
    if (seen.unlisted && since && of_claimed && !is_newer(claimed, *written)) seen.gone = seen.unlisted = false;
    // A program that keeps no other store commits what it made of the claimed value, on that value's version.
    auto const made_of_it = of_claimed && written->meta.resource_version == claimed.meta.resource_version;
    if ((seen.gone && of_claimed) || (!made_of_it && !is_newer(*written, claimed))) return;
    if (!seen.newest || !is_newer(*seen.newest, *written)) seen.newest = std::move(written);
  });
}

template <class Mutex>
void basic_ready_cache<Mutex>::discard(server_handle handle, slot_view* after) {
  end_claim(handle, slot_status::stale, after, [](detail::server_slot&, detail::seen_meanwhile&) {});
}

template <class Mutex>
void basic_ready_cache<Mutex>::remove(server_handle handle, slot_view* after) {
  end_claim(handle, slot_status::free, after, [](detail::server_slot& slot, detail::seen_meanwhile& seen) {
    // Unless the end of the claimed one is known, the newest value is its last.
    if (!seen.gone && seen.newest) slot.server = std::move(seen.newest);
    seen.gone = true;
    seen.unlisted = false;
  });
}

template <class Mutex>
auto basic_ready_cache<Mutex>::newest_of(stripe const& in, std::uint32_t local) const -> game_server_ptr {
  auto const& slot = in.at(local);
  if (slot.status != slot_status::claimed) return slot.server;
  auto const seen = in.meanwhile.find(local);
  if (seen == in.meanwhile.end()) return slot.server;
  if (seen->second.newest) return is_allocatable(*seen->second.newest) ? seen->second.newest : nullptr;
  return seen->second.gone ? nullptr : slot.server;
}

template <class Mutex>
auto basic_ready_cache<Mutex>::find(object_key const& key) const -> game_server_ptr {
  auto const hash = detail::key_hash(key.namespace_, key.name);
  auto& in = stripe_of(hash);
  guard const lock{in.mutex};
  auto const found = in.find(hash, key.namespace_, key.name);
  return found ? newest_of(in, *found) : nullptr;
}

template <class Mutex>
auto basic_ready_cache<Mutex>::newer_than_claimed(std::string_view ns, std::string_view claim_id) const -> game_server_ptr {
  for (auto const id : seen_claims_.find(ns, claim_id)) {
    auto& in = stripe_of(id);
    guard const lock{in.mutex};
    auto const at = in.meanwhile.find(local_of(id));
    if (at == in.meanwhile.end() || !at->second.newest) continue;
    auto const& seen = *at->second.newest;
    if (is_allocatable(seen) && seen.meta.namespace_ == ns && find_claim(seen, claim_id)) return at->second.newest;
  }
  return nullptr;
}

template <class Mutex>
auto basic_ready_cache<Mutex>::lookup(object_key const& key) const -> slot_view {
  auto const hash = detail::key_hash(key.namespace_, key.name);
  auto& in = stripe_of(hash);
  guard const lock{in.mutex};
  auto const found = in.find(hash, key.namespace_, key.name);
  return found ? view_of(in, *found) : slot_view{};
}

template <class Mutex>
auto basic_ready_cache<Mutex>::snapshot(std::string_view ns) const -> std::vector<game_server_ptr> {
  std::vector<game_server_ptr> out;
  for (std::size_t i = 0; i <= stripe_mask_; ++i) {
    auto& in = stripes_[i];
    guard const lock{in.mutex};
    for (std::uint32_t local = 0; local != in.slots(); ++local) {
      if (in.at(local).status == slot_status::absent) continue;
      auto server = newest_of(in, local);
      if (server && (ns.empty() || server->meta.namespace_ == ns)) out.push_back(std::move(server));
    }
  }
  return out;
}

template <class Mutex>
auto basic_ready_cache<Mutex>::size() const -> std::size_t {
  std::size_t sum = 0;
  for (std::size_t i = 0; i <= stripe_mask_; ++i) {
    guard const lock{stripes_[i].mutex};
    sum += stripes_[i].size();
  }
  return sum;
}

template <class Mutex>
auto basic_ready_cache<Mutex>::in_flight() const -> std::size_t {
  std::size_t sum = 0;
  for (std::size_t i = 0; i <= stripe_mask_; ++i) {
    guard const lock{stripes_[i].mutex};
    sum += stripes_[i].claimed;
  }
  return sum;
}

template <class Mutex>
auto basic_ready_cache<Mutex>::take_changes(std::vector<slot_view>& out, std::size_t limit) -> bool {
  notified_.store(false);
  auto left = changed_stripes_.load();
  while (left != 0 && limit != 0) {
    auto& in = stripes_[static_cast<std::size_t>(std::countr_zero(left))];
    guard const lock{in.mutex};
    for (; limit != 0 && !in.changed.empty(); --limit) {
      auto const local = in.changed.back();
      in.changed.pop_back();
      in.at(local).queued = false;
      out.push_back(view_of(in, local));
    }
    if (in.changed.empty()) changed_stripes_.fetch_and(~bit_of(in));
    left &= left - 1;
  }
  return changed_stripes_.load() != 0;
}

template <class Mutex>
void basic_ready_cache<Mutex>::set_open_nodes(std::shared_ptr<open_nodes const> nodes) {
  {
    guard const lock{nodes_mutex_};
    open_nodes_ = std::move(nodes);
    nodes_changed_.store(true);
  }
  notify();
}

template <class Mutex>
auto basic_ready_cache<Mutex>::take_open_nodes() -> std::optional<std::shared_ptr<open_nodes const>> {
  if (!nodes_changed_.load()) return std::nullopt;
  guard const lock{nodes_mutex_};
  nodes_changed_.store(false);
  return open_nodes_;
}

template <class Mutex>
auto basic_ready_cache<Mutex>::read(std::uint32_t id) const -> slot_view {
  auto& in = stripe_of(id);
  guard const lock{in.mutex};
  auto const local = local_of(id);
  return local < in.slots() ? view_of(in, local) : slot_view{{id, 0}, slot_status::absent, nullptr, nullptr};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
