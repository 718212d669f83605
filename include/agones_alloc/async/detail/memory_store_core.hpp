// What a memory_store and the operations that outlive it share.
#pragma once

#include <agones_alloc/async/detail/object_table.hpp>
#include <agones_alloc/async/memory_store.hpp>

#include <boost/asio/any_completion_executor.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// One mutex guards the table, the watches and the answers that wait to be delivered. Answers are delivered by
/// one posted function, however many there are: never inside the initiating function, never under the lock.
class memory_store_core : public std::enable_shared_from_this<memory_store_core> {
 public:
  AGONES_ALLOC_DECL memory_store_core(boost::asio::any_io_executor, memory_store_options);
  AGONES_ALLOC_DECL ~memory_store_core();

  AGONES_ALLOC_DECL void update(update_request, store::handler);
  AGONES_ALLOC_DECL void read(object_key, store::handler);
  AGONES_ALLOC_DECL void list(server_source::list_handler);
  AGONES_ALLOC_DECL void watch(std::string from, server_source::watch_handler);
  AGONES_ALLOC_DECL void close();
  AGONES_ALLOC_DECL void set_faults(std::shared_ptr<fault_plan>);

  /// Runs `change(table)` under the lock, then wakes the watches.
  template <class Change>
  auto change(Change&& how) {
    std::unique_lock lock{mutex_};
    auto outcome = how(table_);
    wake_watches(lock);
    return outcome;
  }
  template <class Look>
  auto look(Look&& how) const {
    std::lock_guard const lock{mutex_};
    return how(table_);
  }
  AGONES_ALLOC_DECL auto now() const noexcept -> timestamp;

 private:
  struct operation {
    store_operation what;
    update_request write;
    object_key key;
    store::handler handler;
    store_fault fault;
  };
  struct answer {
    explicit answer(store::handler h, error_code e = {}) : handler{std::move(h)}, ec{e} {}
    store::handler handler;
    error_code ec;
    store_result value;
  };
  struct watcher {
    std::uint64_t id;
    std::uint64_t from;
    server_source::watch_handler handler;
    error_code ec;  ///< set: to be completed with it
  };
  class delayed_operation;
  class delivery;
  template <class Handler, class Value>
  class delivery_of;

  auto plan(store_operation, object_key const&) -> store_fault;
  auto execute(operation&) -> answer;
  void write(game_server const& base, std::shared_ptr<game_server> desired, bool quiet, answer&);
  void submit(operation);
  void finish(std::unique_lock<std::mutex>&, answer);
  void wake_watches(std::unique_lock<std::mutex>&);
  void wake(std::unique_lock<std::mutex>&);
  void deliver();
  void collect_watches();
  void cancel_watch(std::uint64_t id);

  boost::asio::any_io_executor executor_;
  boost::asio::any_completion_executor own_;
  memory_store_options options_;
  mutable std::mutex mutex_;
  object_table table_;
  std::shared_ptr<fault_plan> faults_;
  std::vector<answer> answers_;
  std::vector<std::unique_ptr<delivery>> deliveries_;
  std::vector<watcher> watchers_;
  std::uint64_t next_watcher_{1};
  bool posted_{false};
  bool closed_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/detail/memory_store_core.ipp>
#endif
