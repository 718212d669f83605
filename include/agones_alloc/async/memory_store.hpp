// A store in memory: for embedded fleets, simulations and tests.
#pragma once

#include <agones_alloc/async/store_change.hpp>
#include <agones_alloc/async/store_fault.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/port/server_source.hpp>
#include <agones_alloc/port/store.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct memory_store_options {
  std::size_t history{65536};      ///< changes kept for watches, at least 1; older ones make a watch too old
  std::size_t watch_batch{1024};   ///< events in one answer of a watch, at least 1
  std::size_t watches{1024};       ///< watches that may wait at once; more fail with errc::too_many_requests
  std::uint64_t first_version{0};  ///< the first change gets the next number
  timer* clock{nullptr};           ///< for creation timestamps and for faults with latency; must outlive the store
};

namespace detail {
class memory_store_core;
}

/// Both ports, `store` and `server_source`, over one table of game servers with optimistic writes: each change
/// gets the next resource version; a write based on another version is a conflict; watches resume from any
/// version that is still in the history.
///
/// The ports' handlers complete on their associated executor, else on the store's. The functions that are
/// not asynchronous may be called from any thread and take effect at once. Destroying the store completes what
/// is pending with errc::cancelled. Cancellation: a watch ends at any time, an update or read while a fault's
/// latency holds it up before its execution; a write that was executed ends as it would have.
class memory_store final : public store, public server_source {
 public:
  /// Throws std::invalid_argument naming the option that is out of range.
  AGONES_ALLOC_DECL explicit memory_store(boost::asio::any_io_executor, memory_store_options = {});
  AGONES_ALLOC_DECL ~memory_store() override;
  memory_store(memory_store const&) = delete;
  auto operator=(memory_store const&) -> memory_store& = delete;

  /// Adds a server. Missing uid, creation timestamp and generation are made up; the resource version is
  /// always the store's. Errors: invalid_request without a name; conflict when the name is taken.
  AGONES_ALLOC_DECL auto create(game_server) -> result<game_server_ptr>;
  /// Replaces `base` by `desired`. Errors: not_found; conflict when the store holds another version than base's.
  AGONES_ALLOC_DECL auto update(game_server const& base, game_server desired) -> result<game_server_ptr>;
  /// Reads, lets `change(game_server&)` edit a copy, and writes; again when another writer was faster.
  /// Error: not_found.
  template <class Change>
  auto modify(object_key const& key, Change&& change) -> result<game_server_ptr> {
    while (true) {
      auto const base = find(key);
      if (!base) return error_code{errc::not_found};
      auto desired = *base;
      change(desired);
      auto written = update(*base, std::move(desired));
      if (written || written.error() != errc::conflict) return written;
    }
  }
  /// The last state. Errors: not_found; conflict when `uid` is given and it is another server's.
  AGONES_ALLOC_DECL auto remove(object_key const&, std::string_view uid = {}) -> result<game_server_ptr>;

  AGONES_ALLOC_DECL auto find(object_key const&) const -> game_server_ptr;  ///< null when absent
  AGONES_ALLOC_DECL auto list() const -> server_list;                      ///< sorted by namespace and name
  AGONES_ALLOC_DECL auto size() const -> std::size_t;

  /// What happened after `resource_version`, `most` changes at most; none yet: none, with the same version. For those
  /// who select by labels, and wait with async_watch. Error: too_old.
  AGONES_ALLOC_DECL auto changes_after(std::string_view resource_version, std::size_t most) const
      -> result<store_changes>;

  /// What goes wrong from now on; null: nothing.
  AGONES_ALLOC_DECL void set_faults(std::shared_ptr<fault_plan>);
  /// Forgets the history, as a compaction does: every watch from an older version is too old.
  AGONES_ALLOC_DECL void compact();

 private:
  AGONES_ALLOC_DECL void do_update(update_request, store::handler) override;
  AGONES_ALLOC_DECL void do_read(object_key, store::handler) override;
  AGONES_ALLOC_DECL void do_list(list_handler) override;
  AGONES_ALLOC_DECL void do_watch(std::string, watch_handler) override;

  std::shared_ptr<detail::memory_store_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/memory_store.ipp>
#endif
