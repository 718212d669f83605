#pragma once

#include <agones_alloc/async/detail/drawn_id.hpp>
#include <agones_alloc/async/detail/gate_core.hpp>
#include <agones_alloc/cache/freshness.hpp>
#include <agones_alloc/detail/hash.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

AGONES_ALLOC_DECL gate_core::gate_core(boost::asio::any_io_executor executor, ready_cache& cache, store& writes, timer& time,
                                       random_source& random, gate_options options, gate_ports ports)
    : executor_{std::move(executor)},
      own_{executor_},
      cache_{cache},
      store_{writes},
      timer_{time},
      random_{random},
      options_{std::move(options)},
      ports_{ports},
      tries_{options_.max_probes, options_.max_probes_per_host},
      streams_{options_.max_streams, options_.max_streams_per_host} {
  if (options_.owner.empty()) options_.owner = drawn_id(random_);
}

inline auto gate_core::id_key(std::string_view ns, std::string_view id) -> std::string {
  std::string out;
  out.reserve(ns.size() + 1 + id.size());
  return out.append(ns).append(1, '/').append(id);
}

inline void gate_core::schedule_locked() {
  if (std::exchange(scheduled_, true)) return;
  boost::asio::post(executor_, [self = shared_from_this()] { self->turn(); });
}

inline void gate_core::push(message m) {
  std::lock_guard const lock{mutex_};
  messages_.push_back(std::move(m));
  schedule_locked();
}

inline void gate_core::note(entry_ptr const& entry) {
  if (std::exchange(entry->queued, true)) return;
  news_.push_back(entry);
  schedule_locked();
}

AGONES_ALLOC_DECL void gate_core::stored(game_server_ptr const& server) {
  if (ports_.observer != nullptr) ports_.observer->stored(server);
  if (has_pending(*server) || tracked_.load(std::memory_order_acquire) != 0) follow(server);
}

inline void gate_core::follow(game_server_ptr const& server) {
  bool const marked = has_pending(*server);
  auto key = key_of(server->meta);
  std::lock_guard const lock{mutex_};
  if (auto const at = entries_.find(key); at != entries_.end()) {
    auto const& entry = at->second;
    bool const same = entry->latest->meta.uid == server->meta.uid;
    if (!is_newer(*server, *entry->latest)) return;
    if (same) {
      entry->latest = server;
    } else {
      entry->erased = true;
    }
    note(entry);
    if (same && (!marked || server->meta.annotations.value_or_empty(keys::pending_id_annotation) == entry->marker.id)) return;
  }
  if (marked) begin(server, std::move(key));
}

// Under the lock. The time that is left is measured once by the wall clock: should it be set afterwards, nothing changes.
inline void gate_core::begin(game_server_ptr const& server, object_key key) {
  if (stopping_) return;
  auto marker = find_pending(*server);
  if (!marker) return;
  auto by_id = id_key(key.namespace_.view(), marker->id);
  if (auto const at = ended_.find(by_id); at != ended_.end()) {
    auto const& last = at->second->server;
    // What comes late about one whose end is known.
    if (last != nullptr && last->meta.uid == server->meta.uid && !is_newer(*server, *last)) return;
  }
  auto const now = timer_.now();
  auto const wall = timer_.wall_now();
  auto const spread = std::ldexp(static_cast<double>(stable_hash{}.add(std::string_view{marker->id}).value() >> 11U), -53);
  auto const left = std::clamp<std::chrono::nanoseconds>(marker->deadline - wall, std::chrono::hours{-1}, std::chrono::hours{25});
  gate_fsm fsm{marker->gate, options_.limits, marker->owner == options_.owner, now, now + left, spread};
  auto const token = marker->token;
  auto const since = marker->since;
  auto entry = std::make_shared<gate_entry>(std::move(key), *std::move(marker), fsm);
  entry->latest = server;
  entry->begun = now - std::clamp<std::chrono::nanoseconds>(wall - since, std::chrono::hours{0}, std::chrono::hours{25});
  entries_[entry->key] = entry;
  by_id_[std::move(by_id)] = entry;
  if (!token.empty()) by_token_[token] = entry;
  tracked_.store(by_id_.size(), std::memory_order_release);
  note(entry);
}

AGONES_ALLOC_DECL void gate_core::erased(object_key const& key, std::string_view uid) {
  if (ports_.observer != nullptr) ports_.observer->erased(key, uid);
  if (tracked_.load(std::memory_order_acquire) == 0) return;
  std::lock_guard const lock{mutex_};
  auto const at = entries_.find(key);
  if (at == entries_.end() || (!uid.empty() && at->second->latest->meta.uid != uid)) return;
  at->second->erased = true;
  note(at->second);
}

AGONES_ALLOC_DECL void gate_core::replaced(std::span<game_server_ptr const> servers, std::string_view version) {
  if (ports_.observer != nullptr) ports_.observer->replaced(servers, version);
  bool const tracked = tracked_.load(std::memory_order_acquire) != 0;
  for (auto const& server : servers) {
    if (tracked || has_pending(*server)) follow(server);
  }
  if (!tracked) return;
  std::lock_guard const lock{mutex_};
  std::unordered_set<gate_entry const*> listed;
  for (auto const& server : servers) {
    if (auto const at = entries_.find(key_of(server->meta)); at != entries_.end()) listed.insert(at->second.get());
  }
  for (auto const& [key, entry] : entries_) {
    if (listed.contains(entry.get())) continue;
    // What was written after the list was made is not in it.
    if (!version.empty() && is_newer_version(entry->latest->meta.resource_version, version)) continue;
    entry->erased = true;
    note(entry);
  }
}

AGONES_ALLOC_DECL auto gate_core::find(std::string_view ns, std::string_view id) const -> game_server_ptr {
  if (tracked_.load(std::memory_order_acquire) == 0) return nullptr;
  auto const key = id_key(ns, id);
  std::lock_guard const lock{mutex_};
  auto const at = by_id_.find(key);
  if (at == by_id_.end() || at->second->erased) return nullptr;
  return has_pending(*at->second->latest) ? at->second->latest : nullptr;
}

AGONES_ALLOC_DECL auto gate_core::find_end(std::string_view ns, std::string_view id) const -> std::shared_ptr<gate_result const> {
  auto const key = id_key(ns, id);
  std::lock_guard const lock{mutex_};
  if (by_id_.contains(key)) return nullptr;
  auto const at = ended_.find(key);
  return at == ended_.end() ? nullptr : at->second;
}

AGONES_ALLOC_DECL auto gate_core::pending() const -> std::size_t {
  std::lock_guard const lock{mutex_};
  return by_id_.size();
}

AGONES_ALLOC_DECL auto gate_core::call(std::string_view token, bool ready) -> bool {
  std::lock_guard const lock{mutex_};
  auto const at = by_token_.find(std::string{token});
  if (at == by_token_.end()) return false;
  messages_.emplace_back([this, entry = at->second, ready] {
    entry->fsm.called(ready, now_);
    step(entry);
  });
  by_token_.erase(at);  // of one use
  schedule_locked();
  return true;
}

AGONES_ALLOC_DECL void gate_core::stop() {
  {
    std::lock_guard const lock{mutex_};
    stopping_ = true;
  }
  push([this] { shut(); });
}

AGONES_ALLOC_DECL auto gate_core::wait(std::string_view ns, std::string_view id, object_key const& server, std::string_view uid,
                                       timer::time_point deadline, bool kept, gate_waiter::handler_type handler) -> std::uint64_t {
  auto waiter = std::make_shared<gate_waiter>(std::move(handler));
  waiter->number = last_waiter_.fetch_add(1, std::memory_order_relaxed) + 1;
  auto const number = waiter->number;
  wanted_end wanted{id_key(ns, id), server, std::string{uid}, std::string{id}};
  push([this, wanted = std::move(wanted), deadline, kept, waiter = std::move(waiter)] { begin_wait(wanted, deadline, kept, waiter); });
  return number;
}

AGONES_ALLOC_DECL void gate_core::leave(std::uint64_t number, bool give_up) {
  push([this, number, give_up] {
    auto const at = waiters_.find(number);
    if (at == waiters_.end()) return;
    auto& waiter = *at->second;
    auto const entry = alive_.at(waiter.of);
    if (!give_up || entry->kept || entry->waiters.size() > 1) {
      gate_result still;
      still.known = false;
      still.server = entry->seen;
      still.id = entry->marker.id;
      return part(waiter, errc::cancelled, std::move(still));
    }
    entry->fsm.abandon(now_);
    step(entry);
  });
}

AGONES_ALLOC_DECL void gate_core::keep(std::string_view ns, std::string_view id) {
  push([this, key = id_key(ns, id)] {
    if (auto const entry = entry_of(key)) entry->kept = true;
  });
}

AGONES_ALLOC_DECL void gate_core::give_up(std::string_view ns, std::string_view id, release_to to) {
  push([this, key = id_key(ns, id), to] {
    auto const entry = entry_of(key);
    if (entry == nullptr) return;
    if (entry->fsm.verdict() == gate_verdict::none) {
      entry->instead = to == release_to::ready ? gate_policy::return_to_ready : gate_policy::shutdown;
    }
    entry->fsm.abandon(now_);
    step(entry);
  });
}

AGONES_ALLOC_DECL auto gate_core::choose(game_server const& server, std::string_view request_text) -> gate_settings {
  field_errors problems;
  auto out = choose_gate(options_.otherwise, server, request_text, problems);
  if (!can(out.source)) {
    problems.push_back({field_error_type::not_supported, "metadata.annotations[" + std::string{keys::gate_annotation} + "].source",
                        go_quoted(to_string(out.source)), std::string{cannot_ask_text}});
    out.source = can(options_.otherwise.source) ? options_.otherwise.source : gate_source::watch;
  }
  if (problems.empty() || ports_.log == nullptr) return out;
  constexpr std::size_t most = 64;
  auto const text = to_string(problems);
  {
    std::lock_guard const lock{mutex_};
    if (complained_.size() >= most || !complained_.insert(text).second) return out;
  }
  ports_.log->log(severity::warning, "the gate of a fleet's template cannot be read",
                  {{"server", to_string(key_of(server.meta))}, {"problem", text}});
  return out;
}

AGONES_ALLOC_DECL auto gate_core::draw_token() -> std::string {
  std::lock_guard const lock{drawing_};
  return drawn_id(ports_.secrets != nullptr ? *ports_.secrets : random_);
}

inline auto gate_core::draw() -> double {
  std::lock_guard const lock{drawing_};
  return random_.unit();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
