// The driver of a readiness gate: carries out what the state machines of its servers ask for.
#pragma once

#include <agones_alloc/async/detail/host_slots.hpp>
#include <agones_alloc/async/detail/wake_queue.hpp>
#include <agones_alloc/async/gate_options.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/flow/gate_fsm.hpp>
#include <agones_alloc/flow/pending.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/store.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

struct gate_entry;

/// Of a source that the gate's probe cannot ask by, or that has none.
inline constexpr std::string_view cannot_ask_text =
    "game servers cannot be asked that way here (for grpc: the gRPC library of agones_alloc is not built in)";

/// Somebody who waits for the end of one pending server.
struct gate_waiter : wake_queue::entry {
  using handler_type = boost::asio::any_completion_handler<void(error_code, gate_result)>;
  explicit gate_waiter(handler_type h) : handler{std::move(h)} {}
  handler_type handler;
  gate_entry* of{nullptr};
  std::uint64_t number{0};
};

struct gate_key_hash {
  auto operator()(object_key const& key) const noexcept -> std::size_t {
    return std::hash<std::string_view>{}(key.name.view()) * 31 + std::hash<std::string_view>{}(key.namespace_.view());
  }
};

/// One pending server.
struct gate_entry : wake_queue::entry {
  gate_entry(object_key k, pending_marker m, gate_fsm f) : key{std::move(k)}, marker{std::move(m)}, fsm{f} {}
  object_key const key;
  pending_marker const marker;

  // Under the core's lock.
  game_server_ptr latest;
  bool erased{false};
  bool queued{false};  ///< somebody has told something new

  // Of the turn alone.
  gate_fsm fsm;
  game_server_ptr seen;
  timer::time_point begun{};
  std::vector<std::shared_ptr<gate_waiter>> waiters;
  std::vector<std::string> not_undone;
  std::optional<gate_policy> instead;  ///< of the marker's policy
  boost::asio::cancellation_signal leave_stream;
  bool kept{false};     ///< somebody may come back for it
  gate_end end{gate_end::gone};
  bool by_us{false};    ///< its end was this replica's write
  bool seen_first{false};  ///< it may have been, but was seen before the write's answer came
  bool over{false};
};

/// Everything happens in turn(), of which at most one is posted or running. Other threads leave values under the lock, and
/// messages, and post a turn. Callers are told at its end.
class gate_core : public std::enable_shared_from_this<gate_core> {
 public:
  AGONES_ALLOC_DECL gate_core(boost::asio::any_io_executor, ready_cache&, store&, timer&, random_source&, gate_options, gate_ports);

  // Any thread.
  AGONES_ALLOC_DECL void stored(game_server_ptr const&);
  AGONES_ALLOC_DECL void erased(object_key const&, std::string_view uid);
  AGONES_ALLOC_DECL void replaced(std::span<game_server_ptr const>, std::string_view version);
  AGONES_ALLOC_DECL auto find(std::string_view ns, std::string_view id) const -> game_server_ptr;
  AGONES_ALLOC_DECL auto find_end(std::string_view ns, std::string_view id) const -> std::shared_ptr<gate_result const>;
  AGONES_ALLOC_DECL auto call(std::string_view token, bool ready) -> bool;
  AGONES_ALLOC_DECL auto pending() const -> std::size_t;
  AGONES_ALLOC_DECL void stop();

  /// Waits for the end of the allocation of that id: on the server of that uid, or, with "", whichever has it. `kept`: it is not given up when nobody waits any more.
  AGONES_ALLOC_DECL auto wait(std::string_view ns, std::string_view id, object_key const& server, std::string_view uid,
                              timer::time_point deadline, bool kept, gate_waiter::handler_type) -> std::uint64_t;
  /// The waiter goes, completed as cancelled; with `give_up`, and if it was the last one, so does the server: then it is completed with the
  /// server's end.
  AGONES_ALLOC_DECL void leave(std::uint64_t waiter, bool give_up);
  /// Nobody is to give it up. (An async call.)
  AGONES_ALLOC_DECL void keep(std::string_view ns, std::string_view id);
  /// Ends it at once, and the server goes there.
  AGONES_ALLOC_DECL void give_up(std::string_view ns, std::string_view id, release_to to);

  /// Whether there is a way to ask for it. Any thread.
  AGONES_ALLOC_DECL auto can(gate_source) const noexcept -> bool;
  /// Whether an allocation on this server may have a gate at all. Cheap.
  auto may_choose(game_server const& server, std::string_view request_text) const noexcept -> bool {
    return options_.otherwise.enabled || !request_text.empty() || server.meta.annotations.contains(keys::gate_annotation);
  }
  /// For one allocation on this server.
  AGONES_ALLOC_DECL auto choose(game_server const&, std::string_view request_text) -> gate_settings;
  /// Any thread.
  AGONES_ALLOC_DECL auto draw_token() -> std::string;
  auto is_full() const noexcept -> bool { return calls_.load(std::memory_order_relaxed) >= options_.max_calls; }
  void enter() noexcept { calls_.fetch_add(1, std::memory_order_relaxed); }
  void done() noexcept { calls_.fetch_sub(1, std::memory_order_relaxed); }
  auto owner() const noexcept -> std::string const& { return options_.owner; }
  auto executor() const noexcept -> boost::asio::any_io_executor const& { return executor_; }
  auto own() const noexcept -> boost::asio::any_completion_executor const& { return own_; }
  auto clock() const noexcept -> timer& { return timer_; }
  auto ports() const noexcept -> gate_ports const& { return ports_; }

 private:
  using entry_ptr = std::shared_ptr<gate_entry>;
  using message = std::function<void()>;
  struct wanted_end {
    std::string by_id;  ///< id_key
    object_key server;
    std::string uid;    ///< "": whichever has the id
    std::string id;
  };
  struct told {
    gate_waiter::handler_type handler;
    error_code ec;
    gate_result result;
  };

  // Under the lock.
  void note(entry_ptr const&);
  void schedule_locked();
  void push(message);
  static auto id_key(std::string_view ns, std::string_view id) -> std::string;
  void follow(game_server_ptr const&);
  void begin(game_server_ptr const&, object_key);

  auto draw() -> double;

  // The turn.
  void turn();
  void finish_turn();
  void look_at(gate_entry&);
  void step(entry_ptr const&);
  void write(entry_ptr const&, gate_verdict);
  void written(entry_ptr const&, error_code, store_result const&);
  void read(entry_ptr const&);
  void have_read(entry_ptr const&, error_code, store_result const&);
  void settle(entry_ptr const&, gate_end);
  void report(gate_entry const&, gate_result const&);
  void record(gate_entry const&, game_server const&);
  void begin_wait(wanted_end const&, timer::time_point, bool kept, std::shared_ptr<gate_waiter> const&);
  auto entry_of(wanted_end const&) const -> entry_ptr;
  auto entry_of(std::string const& key) const -> entry_ptr;
  void tell(gate_waiter&, error_code, gate_result);
  void part(gate_waiter&, error_code, gate_result);
  void wake_due();
  void arm();
  void shut();

  // Checks; gate_probes.ipp.
  using slots = host_slots<entry_ptr>;
  auto target_of(gate_entry const&) const -> std::optional<probe_target>;
  void probe(entry_ptr const&);
  void ask(slots&, entry_ptr const&, probe_target);
  void probed(slots&, entry_ptr const&, std::string const& host, probe_answer);
  void start_waiting(slots&);

  boost::asio::any_io_executor executor_;
  boost::asio::any_completion_executor own_;
  ready_cache& cache_;
  store& store_;
  timer& timer_;
  random_source& random_;
  gate_options options_;
  gate_ports ports_;

  std::mutex drawing_;  ///< the random sources: the allocator draws tokens beside the turn
  mutable std::mutex mutex_;
  std::unordered_map<object_key, entry_ptr, gate_key_hash> entries_;
  std::unordered_map<std::string, entry_ptr> by_id_;      ///< by namespace and id
  std::unordered_map<std::string, entry_ptr> by_token_;
  std::unordered_map<std::string, std::shared_ptr<gate_result const>> ended_;
  std::deque<std::string> ended_order_;
  std::vector<entry_ptr> news_;
  std::vector<message> messages_;
  std::unordered_set<std::string> complained_;  ///< of templates that cannot be read
  bool scheduled_{false};
  bool stopping_{false};

  std::atomic<std::size_t> tracked_{0};
  std::atomic<std::size_t> calls_{0};
  std::atomic<std::uint64_t> last_waiter_{0};

  // Of the turn alone.
  wake_queue wakes_;
  wake_queue patience_;
  std::unordered_map<std::uint64_t, gate_waiter*> waiters_;
  std::unordered_map<gate_entry*, entry_ptr> alive_;
  std::vector<told> told_;
  slots tries_;
  slots streams_;  ///< source sse
  timer::time_point now_{};
  std::size_t reported_{0};
  boost::asio::cancellation_signal stop_waiting_;
  timer::time_point armed_until_{timer::time_point::max()};
  std::uint64_t armed_{0};
  bool armed_now_{false};
  bool stopped_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/detail/gate_core.ipp>
#include <agones_alloc/impl/async/detail/gate_probes.ipp>
#include <agones_alloc/impl/async/detail/gate_turn.ipp>
#endif
