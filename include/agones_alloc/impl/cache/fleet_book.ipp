#pragma once

#include <agones_alloc/cache/fleet_book.hpp>
#include <agones_alloc/cache/freshness.hpp>
#include <agones_alloc/cache/index/prefetch.hpp>
#include <agones_alloc/cache/slot_stripe.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Whether a Fleet tells consumers the same as before; its resource version alone is no news.
inline auto tells_the_same(fleet const& a, fleet const& b) -> bool {
  return a.meta.uid == b.meta.uid && a.meta.generation == b.meta.generation && a.meta.labels == b.meta.labels &&
         a.meta.annotations == b.meta.annotations && a.replicas == b.replicas && a.scheduling == b.scheduling &&
         a.status == b.status;
}

inline auto tells_the_same(fleet_info const& a, fleet_info const& b) -> bool {
  return a.uid == b.uid && a.generation == b.generation && a.labels == b.labels && a.annotations == b.annotations &&
         a.scheduling == b.scheduling && a.desired == b.desired && a.status == b.status && a.recount == b.recount &&
         a.stale == b.stale;
}

/// Servers that are looked up together: as many as wait for memory at once, and few enough to stay near.
inline constexpr std::size_t servers_together = 16;

inline auto hash_of(std::string_view ns, std::string_view name) noexcept -> std::size_t {
  return static_cast<std::size_t>(key_hash(ns, name));
}

}  // namespace detail

AGONES_ALLOC_DECL fleet_book::fleet_book(fleet_book_options options)
    : options_{std::move(options)}, local_{options_.cluster} {
  if (options_.cluster.empty()) throw std::invalid_argument{"fleet_book_options.cluster must not be empty"};
  if (options_.interval < std::chrono::nanoseconds{0} || options_.interval > std::chrono::hours{1}) {
    throw std::invalid_argument{"fleet_book_options.interval is out of range"};
  }
}

AGONES_ALLOC_DECL fleet_book::~fleet_book() { changes_.clear(); }

inline auto fleet_book::row_for(fleet_key const& key) -> row& {
  auto& at = rows_[key];
  if (!at) {
    at = std::make_unique<row>();
    at->key = key;
    touch(*at);
  }
  return *at;
}

inline auto fleet_book::local_row(game_server const& server) -> row* {
  auto const name = server.meta.labels.value_or_empty(keys::fleet_label);
  return name.empty() ? nullptr : &row_for({local_, server.meta.namespace_, shared_string{name}});
}

inline auto fleet_book::is_of(game_server const& server, row const* fleet) noexcept -> bool {
  auto const name = server.meta.labels.value_or_empty(keys::fleet_label);
  return fleet == nullptr ? name.empty() : fleet->key.name == name;
}

inline void fleet_book::touch(row& changed) {
  changed.info.reset();
  changed.edit = ++edits_;
  if (changed.dirty) return;
  changed.dirty = true;
  fresh_ = true;
  dirty_.push_back(&changed);
}

inline void fleet_book::note_labels(row& of, string_map const& next) {
  of.labels_changed = of.labels_changed || !(labels_of(of) == next);
}

inline void fleet_book::drop_if_empty(row& local) {
  if (local.object == nullptr && local.counts.servers() == 0) kill(rows_, rows_.find(local.key));
}

inline auto fleet_book::kill(row_map& in, row_map::iterator at) -> row_map::iterator {
  at->second->gone = true;
  ++edits_;
  dying_.push_back(std::move(at->second));
  return in.erase(at);
}

AGONES_ALLOC_DECL void fleet_book::store(game_server_ptr const& server) {
  auto const& meta = server->meta;
  auto const hash = detail::hash_of(meta.namespace_, meta.name);
  auto const at = servers_.find(server_name{hash, meta.namespace_, meta.name});
  store(server, hash, at == servers_.end() ? nullptr : &*at);
}

/// `found`: what is known of the server; null: nothing.
inline void fleet_book::store(game_server_ptr const& server, std::size_t hash, known_server const* found) {
  auto const& meta = server->meta;
  if (found == nullptr) {
    if (!removed_.empty() && was_removed(hash, *server)) return;
    auto* const of = local_row(*server);
    auto const& made = *servers_.insert(known_server{hash, server, of, server_list_}).first;
    if (of == nullptr) return;
    of->counts.add(*server, made.node);
    return touch(*of);
  }
  auto const& known = *found;
  known.list = server_list_;
  if (!is_newer(*server, *known.server)) return;
  auto* const of = known.of;
  if (meta.labels.same_block(known.server->meta.labels) || is_of(*server, of)) {
    if (of != nullptr && of->counts.replace(*known.server, *server, known.node)) touch(*of);
    known.server = server;
    return;
  }
  auto* const now = local_row(*server);
  auto place = std::exchange(known.node, nullptr);
  if (now != nullptr) {
    now->counts.add(*server, known.node);
    touch(*now);
  }
  if (of != nullptr) {
    of->counts.remove(*known.server, place);
    touch(*of);
    drop_if_empty(*of);
  }
  known.server = server;
  known.of = now;
}

// Each step asks for what the next one reads, of all of them, so that they wait for far memory together; all that is
// read ahead is where it may be, and nothing is decided by it.
inline void fleet_book::store_together(std::span<game_server_ptr const> some) {
  std::array<known_server const*, detail::servers_together> known{};
  std::array<std::size_t, detail::servers_together> hashes{};
  auto const near = [](game_server const& server) {
    detail::bring_parts_near(server);
    server.meta.namespace_.bring_near();
    server.meta.labels.bring_near();
    server.status.node_name.bring_near();
  };
  for (auto const& server : some) detail::bring_record_near(server.get());
  for (auto const& server : some) near(*server);
  for (std::size_t i = 0; i != some.size(); ++i) {
    auto const& meta = some[i]->meta;
    hashes[i] = detail::hash_of(meta.namespace_, meta.name);
    auto const at = servers_.find(server_hint{hashes[i]});
    if (at == servers_.end()) continue;
    known[i] = &*at;
    detail::bring_record_near(at->server.get());
    detail::bring_near(at->node);
  }
  for (auto const* const one : known) {
    if (one == nullptr) continue;
    near(*one->server);
    if (one->of == nullptr) continue;
    one->of->counts.bring_near();
    detail::bring_near(&one->of->info);
    detail::bring_near(&one->of->edit);
  }
  auto const size = servers_.size();
  for (std::size_t i = 0; i != some.size(); ++i) {
    auto const& meta = some[i]->meta;
    server_name const name{hashes[i], meta.namespace_, meta.name};
    // One that was inserted may have moved all others, and may be this very server.
    if (known[i] != nullptr && servers_.size() == size && server_equal{}(name, *known[i])) {
      store(some[i], hashes[i], known[i]);
    } else {
      store(some[i]);
    }
  }
}

AGONES_ALLOC_DECL void fleet_book::store(std::span<game_server_ptr const> servers) {
  while (!servers.empty()) {
    auto const some = servers.first(std::min(detail::servers_together, servers.size()));
    store_together(some);
    servers = servers.subspan(some.size());
  }
}

inline void fleet_book::forget_server(known_server const& known, std::string_view version) {
  if (auto* const of = known.of; of != nullptr) {
    of->counts.remove(*known.server, known.node);
    touch(*of);
    drop_if_empty(*of);
  }
  if (options_.remembered_servers == 0 || known.server->meta.uid.empty()) return;
  if (removed_.size() >= options_.remembered_servers) {
    if (auto const at = removed_hashes_.find(removed_.front().hash); --at->second == 0) removed_hashes_.erase(at);
    removed_.pop_front();
  }
  removed_.push_back({known.hash, known.server->meta.uid, shared_string{version}});
  ++removed_hashes_[known.hash];
}

// A server of that uid does not come back, unless the list that lacked it was older than the news.
inline auto fleet_book::was_removed(std::size_t hash, game_server const& server) const -> bool {
  if (!removed_hashes_.contains(hash)) return false;
  auto const at = std::find_if(removed_.rbegin(), removed_.rend(), [&](removed_server const& one) {
    return one.hash == hash && one.uid == server.meta.uid;
  });
  if (at == removed_.rend()) return false;
  return at->version.empty() || !is_newer_version(server.meta.resource_version, at->version);
}

AGONES_ALLOC_DECL void fleet_book::erase(object_key const& key, std::string_view uid) {
  auto const at = servers_.find(server_name{detail::hash_of(key.namespace_, key.name), key.namespace_, key.name});
  if (at == servers_.end() || (!uid.empty() && at->server->meta.uid != uid)) return;
  forget_server(*at, {});
  servers_.erase(at);
}

AGONES_ALLOC_DECL void fleet_book::replace_all(std::span<game_server_ptr const> all, std::string_view version) {
  ++server_list_;
  servers_.reserve(all.size());
  store(all);
  for (auto at = servers_.begin(); at != servers_.end();) {
    if (at->list == server_list_) {
      ++at;
    } else {
      forget_server(*at, version.empty() ? std::string_view{"0"} : version);
      servers_.erase(at++);
    }
  }
}

inline void fleet_book::take_fleet(row& of, fleet_ptr const& now) {
  if (of.object == now) return;
  bool const news = of.object == nullptr || !detail::tells_the_same(*of.object, *now);
  note_labels(of, now->meta.labels);
  of.object = now;
  if (news) touch(of);
}

inline void fleet_book::lose_fleet(row& of) {
  note_labels(of, {});
  of.object.reset();
  touch(of);
  drop_if_empty(of);
}

AGONES_ALLOC_DECL void fleet_book::set_fleets(std::span<fleet_ptr const> all) {
  auto const list = ++lists_;
  for (auto const& one : all) {
    auto& at = row_for({local_, one->meta.namespace_, one->meta.name});
    at.list = list;
    take_fleet(at, one);
  }
  for (auto at = rows_.lower_bound({local_, {}, {}}); at != rows_.end() && at->first.cluster == local_;) {
    auto& one = *at->second;
    ++at;
    if (one.object != nullptr && one.list != list) lose_fleet(one);
  }
}

AGONES_ALLOC_DECL void fleet_book::put_fleet(fleet_ptr const& one) {
  take_fleet(row_for({local_, one->meta.namespace_, one->meta.name}), one);
}

AGONES_ALLOC_DECL void fleet_book::erase_fleet(object_key const& key) {
  auto const at = rows_.find({local_, key.namespace_, key.name});
  if (at != rows_.end() && at->second->object != nullptr) lose_fleet(*at->second);
}

AGONES_ALLOC_DECL void fleet_book::begin_list(std::string_view cluster) { list_of_[std::string{cluster}] = ++lists_; }

AGONES_ALLOC_DECL void fleet_book::end_list(std::string_view cluster) {
  auto const found = list_of_.find(cluster);
  if (found == list_of_.end()) return;
  shared_string const name{cluster};
  for (auto at = rows_.lower_bound({name, {}, {}}); at != rows_.end() && at->first.cluster == name;) {
    bool const kept = at->second->list >= found->second;
    if (!kept) --remote_sizes_[std::string{cluster}];
    at = kept ? std::next(at) : kill(rows_, at);
  }
}

AGONES_ALLOC_DECL auto fleet_book::put(fleet_info told) -> bool {
  auto const key = key_of(told);
  auto at = rows_.find(key);
  if (at == rows_.end()) {
    auto& size = remote_sizes_[key.cluster.str()];
    if (size >= options_.remote_fleets) return false;
    ++size;
    row_for(key);
    at = rows_.find(key);
  }
  auto& one = *at->second;
  one.list = lists_;
  if (one.told != nullptr && detail::tells_the_same(*one.told, told)) return true;
  note_labels(one, told.labels);
  one.told = std::make_shared<fleet_info const>(std::move(told));
  touch(one);
  return true;
}

AGONES_ALLOC_DECL void fleet_book::remove(fleet_key const& key) {
  auto const at = rows_.find(key);
  if (at == rows_.end() || key.cluster == local_) return;
  --remote_sizes_[key.cluster.str()];
  kill(rows_, at);
}

AGONES_ALLOC_DECL void fleet_book::set_cluster(cluster_info now) {
  auto& at = clusters_[{now.name, {}, {}}];
  if (!at) {
    at = std::make_unique<row>();
    at->key.cluster = now.name;
  } else {
    auto before = *at->cluster;
    before.observed = now.observed;
    if (before == now) return;
  }
  bool const turned = at->cluster != nullptr && at->cluster->stale != now.stale;
  at->cluster = std::make_shared<cluster_info const>(std::move(now));
  touch(*at);
  if (!turned) return;
  auto const& name = at->key.cluster;
  for (auto fleet = rows_.lower_bound({name, {}, {}}); fleet != rows_.end() && fleet->first.cluster == name; ++fleet) {
    auto& one = *fleet->second;
    auto const last = one.info;
    touch(one);
    if (last == nullptr) continue;
    auto same = *last;  // the values are as old as they were
    same.stale = at->cluster->stale || (one.told != nullptr && one.told->stale);
    one.info = std::make_shared<fleet_info const>(std::move(same));
  }
}

AGONES_ALLOC_DECL void fleet_book::remove_cluster(std::string_view cluster) {
  shared_string const name{cluster};
  for (auto at = rows_.lower_bound({name, {}, {}}); at != rows_.end() && at->first.cluster == name;) at = kill(rows_, at);
  remote_sizes_.erase(std::string{cluster});
  list_of_.erase(std::string{cluster});
  if (auto const at = clusters_.find({name, {}, {}}); at != clusters_.end()) kill(clusters_, at);
}

inline void fleet_book::stamp(row& changed) {
  changed.revision = ++revision_;
  if (std::exchange(changed.labels_changed, false)) changed.relabelled = changed.revision;
  if (changed.is_linked()) changes_.erase(changes_.iterator_to(changed));
  changes_.push_back(changed);
}

AGONES_ALLOC_DECL auto fleet_book::publish(time_point now, wall_time wall) -> bool {
  auto const before = revision_;
  for (auto& one : dying_) {
    info_of(*one, wall);  // while its cluster is known
    stamp(*one);
    tombstones_.push_back(std::move(one));
  }
  dying_.clear();
  due_ = time_point::max();
  std::size_t kept = 0;
  for (auto* const one : dirty_) {
    if (one->gone) continue;
    if (auto const due = one->published + options_.interval; one->created != 0 && due > now) {
      due_ = std::min(due_, due);
      dirty_[kept++] = one;
      continue;
    }
    one->dirty = false;
    one->published = now;
    stamp(*one);
    if (one->created == 0) one->created = one->revision;
  }
  dirty_.resize(kept);
  fresh_ = false;
  while (tombstones_.size() > options_.remembered_deletions) {
    forgotten_ = tombstones_.front()->revision;
    changes_.erase(changes_.iterator_to(*tombstones_.front()));
    tombstones_.pop_front();
  }
  return revision_ != before;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
