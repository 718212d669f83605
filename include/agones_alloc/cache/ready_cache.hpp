// The allocatable game servers of a cluster, and who is writing to which of them.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/freshness.hpp>
#include <agones_alloc/cache/open_nodes.hpp>
#include <agones_alloc/cache/seen_claims.hpp>
#include <agones_alloc/cache/server_handle.hpp>
#include <agones_alloc/cache/slot_stripe.hpp>
#include <agones_alloc/cache/word_sharing.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// For users with one thread.
struct null_mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
  auto try_lock() noexcept -> bool { return true; }
};

/// Holds Ready and Allocated servers that are not being deleted (spec 4.1), by namespace and name; ADD is like
/// UPDATE (Q7), freshness goes by UID and resource version (Q9). A server is *claimed* by at most one at a time;
/// what arrives about a claimed server is remembered (the newest only) and counts when the claim ends.
///
/// Thread-safe; striped; at most one stripe is locked at a time, and only for a few steps. The functions that end
/// a claim do nothing when the handle's claim has ended already. No function calls back under a lock.
template <class Mutex>
class basic_ready_cache {
 public:
  explicit basic_ready_cache(cache_options options = {});
  basic_ready_cache(basic_ready_cache const&) = delete;
  auto operator=(basic_ready_cache const&) -> basic_ready_cache& = delete;

  /// Called, from whatever thread, when something changed for the index, at most once until the index took
  /// the changes. Not called for the end of a claim, which the index's own thread causes. Set it before use.
  void on_change(std::function<void()> hook) { hook_ = std::move(hook); }

  /// Takes in a value that was read or watched (not null). Equal label sets and repeated words come to share
  /// memory, so the cached value is equal to `server` but may be a copy.
  auto store(game_server_ptr server) -> store_outcome;
  /// A server was deleted. With `uid`: only that one, a newer server of that name stays. True when it was cached.
  auto erase(object_key const& key, std::string_view uid = {}) -> bool;
  /// A complete list: takes in each value, then drops what is neither listed nor stored meanwhile. Atomic per key. With the
  /// list's own version, an older value that is settled afterwards does not bring back what the list lacked.
  void replace_all(std::span<game_server_ptr const> servers, std::string_view version = {});

  /// Which nodes are there to stay; null: all of them, as in the beginning. The servers of the others rank last in packed order.
  void set_open_nodes(std::shared_ptr<open_nodes const> nodes);

  /// Takes the server if it is free and still at this version; null: lost.
  auto claim(server_handle handle) -> game_server_ptr;

  // The ends of a claim. With `after` the caller takes the change in himself, as the index does: it is set to what the slot is
  // then, and the change is not listed for take_changes; left alone when there was no such claim.

  /// Nothing was written: the claimed value, or the newer one seen meanwhile, is free again.
  void put_back(server_handle handle, slot_view* after = nullptr);
  /// `written` (not null) is what the store now has: stored unless something newer was seen; free if allocatable.
  /// It outweighs a list that lacked the server, not a deletion.
  void settle(server_handle handle, game_server_ptr written, slot_view* after = nullptr);
  /// The write met a conflict: what was claimed is stale. Free again as soon as something newer is known.
  void discard(server_handle handle, slot_view* after = nullptr);
  /// The server is gone; what was seen meanwhile stays only if it is another server.
  void remove(server_handle handle, slot_view* after = nullptr);

  auto find(object_key const& key) const -> game_server_ptr;  ///< the newest known value; null when absent
  /// Of what was seen about servers that are claimed, and does not count yet: the one with the claim of that id; null: none.
  auto newer_than_claimed(std::string_view ns, std::string_view claim_id) const -> game_server_ptr;
  auto lookup(object_key const& key) const -> slot_view;      ///< for a claim by name
  auto snapshot(std::string_view ns) const -> std::vector<game_server_ptr>;  ///< newest known values; "": all namespaces
  auto size() const -> std::size_t;       ///< servers held, claimed ones included
  auto in_flight() const -> std::size_t;  ///< servers claimed

  /// For the index. Appends up to `limit` slots that changed since they were last taken, as they are now; true when
  /// more are left. A slot is listed once however often it changed. One taker at a time.
  auto take_changes(std::vector<slot_view>& out, std::size_t limit) -> bool;
  auto read(std::uint32_t id) const -> slot_view;
  /// What set_open_nodes was last given, unless it was taken already.
  auto take_open_nodes() -> std::optional<std::shared_ptr<open_nodes const>>;
  /// True when take_changes or take_open_nodes has something. Cheap, for its taker: from here on the next change rings the hook.
  auto has_changes() noexcept -> bool {
    if (notified_.load()) notified_.store(false);  // before the look: a change in between rings
    return changed();
  }
  /// The same for onlookers, any thread.
  auto changed() const noexcept -> bool { return changed_stripes_.load() != 0 || nodes_changed_.load(); }

 private:
  enum class why_released : std::uint8_t { not_allocatable, deleted, unlisted };
  enum class change_is : std::uint8_t { listed, told };  ///< for take_changes, or to the caller
  using stripe = detail::slot_stripe<Mutex>;
  using guard = std::lock_guard<Mutex>;

  auto stripe_of(std::uint32_t id) const noexcept -> stripe& { return stripes_[id & stripe_mask_]; }
  auto local_of(std::uint32_t id) const noexcept -> std::uint32_t { return id >> stripe_bits_; }
  auto id_of(stripe const& in, std::uint32_t local) const noexcept -> std::uint32_t {
    return (local << stripe_bits_) | static_cast<std::uint32_t>(&in - stripes_.get());
  }
  auto stripe_of(std::uint64_t key_hash) const noexcept -> stripe& { return stripes_[(key_hash >> 32) & stripe_mask_]; }

  auto view_of(stripe const& in, std::uint32_t local) const -> slot_view;
  void mark(stripe& in, std::uint32_t local, change_is = change_is::listed);
  void notify();
  /// Sets the value of a slot that is not claimed, or empties the slot when the value is not allocatable.
  auto set(stripe& in, std::uint32_t local, game_server_ptr server, change_is = change_is::listed) -> store_outcome;
  /// Takes the server out; `last` is what is known of it, `gone` that it does not exist any more.
  void release(stripe& in, std::uint32_t local, game_server const& last, why_released why, change_is = change_is::listed);
  auto was_removed(stripe const& in, std::uint32_t hash, game_server const& server) const -> bool;
  auto bit_of(stripe const& in) const noexcept -> std::uint64_t { return std::uint64_t{1} << (&in - stripes_.get()); }
  /// Remembers that of the claimed server.
  void see(stripe& in, std::uint32_t local, detail::seen_meanwhile seen);
  auto store_claimed(stripe& in, std::uint32_t local, game_server_ptr server) -> store_outcome;
  auto newest_of(stripe const& in, std::uint32_t local) const -> game_server_ptr;
  void drop_unlisted(stripe& in, std::uint32_t list, shared_string const& version);
  /// If the handle is a claim: ends it by what was seen meanwhile, once amend(slot, seen) has added what the caller
  /// knows. When nothing was seen, the claimed value becomes `otherwise`.
  template <class F>
  void end_claim(server_handle handle, slot_status otherwise, slot_view* after, F amend);

  std::size_t stripe_mask_;
  std::uint32_t stripe_bits_;
  std::size_t remembered_removals_;
  std::unique_ptr<stripe[]> stripes_;
  std::atomic<std::uint64_t> changed_stripes_{0};  // one bit per stripe
  std::atomic<bool> notified_{false};
  std::atomic<bool> nodes_changed_{false};
  std::atomic<std::uint32_t> list_{0};  // number of the current or last complete list
  detail::word_sharing<Mutex> sharing_;
  detail::seen_claims<Mutex> seen_claims_;
  std::function<void()> hook_;
  Mutex nodes_mutex_;
  std::shared_ptr<open_nodes const> open_nodes_;
};

using ready_cache = basic_ready_cache<std::mutex>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#include <agones_alloc/impl/cache/ready_cache.hpp>
