// The driver of an allocator: carries out what the state machines ask for.
#pragma once

#include <agones_alloc/async/allocator_options.hpp>
#include <agones_alloc/async/detail/claim_name.hpp>
#include <agones_alloc/async/detail/inbox.hpp>
#include <agones_alloc/async/detail/operation.hpp>
#include <agones_alloc/async/detail/shapes_key.hpp>
#include <agones_alloc/async/detail/wake_queue.hpp>
#include <agones_alloc/cache/index/claim_book.hpp>
#include <agones_alloc/cache/ranked_index.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/store.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// A claim that ends if it is not confirmed by then.
struct due_claim {
  timer::time_point when;
  expiring_claim what;
};

/// What an operation with an id does next.
enum class claim_turn : std::uint8_t { go_on, wait, answered };

/// Everything happens in `turn()`, of which at most one is posted or running: that is what takes the place of a
/// strand. Other threads only push messages and post a turn. Callers are told at the end of a turn, when all
/// is consistent, so they may start, cancel or destroy as they like.
class allocation_engine : public std::enable_shared_from_this<allocation_engine> {
 public:
  AGONES_ALLOC_DECL allocation_engine(boost::asio::any_io_executor, ready_cache&, store&, timer&, random_source&,
                                      allocator_options, allocator_ports);
  AGONES_ALLOC_DECL ~allocation_engine();
  AGONES_ALLOC_DECL void listen();  ///< to the cache; after construction

  // Any thread.
  /// `gated`: where its server is pending, the call goes on at the readiness gate; else it ends so.
  AGONES_ALLOC_DECL void submit(request_ptr, allocate_options const&, bool dry_run, operation::handler_type, bool gated = false);
  /// Of a claim that is there: confirms or releases it.
  AGONES_ALLOC_DECL void submit(std::unique_ptr<claim_part>, allocate_options const&, operation::handler_type);
  AGONES_ALLOC_DECL void reject(operation::handler_type, allocation_result);
  AGONES_ALLOC_DECL void close();
  AGONES_ALLOC_DECL void push(engine_message&);
  AGONES_ALLOC_DECL void schedule();
  auto options() const noexcept -> allocator_options const& { return options_; }
  auto ports() const noexcept -> allocator_ports const& { return ports_; }
  auto outstanding() const noexcept -> std::size_t { return outstanding_.load(std::memory_order_relaxed); }

 private:
  struct told {
    told(operation::handler_type h, error_code e) : handler{std::move(h)}, ec{e} {}
    operation::handler_type handler;
    error_code ec;
    allocation_result result;
  };
  struct explained {
    request_ptr request;
    timer::time_point at{};
    std::shared_ptr<breakdown const> what;
  };
  struct end_of_turn;

  auto admits(claim_purpose) noexcept -> bool;
  auto overloaded() const -> allocation_result;
  static auto claim_problems(allocate_options const&) -> field_errors;
  void submit(std::unique_ptr<operation>);

  // A turn and its parts; allocation_engine.ipp.
  void turn();
  auto handle_messages() -> bool;
  void handle(engine_message&);
  void handle_cancel(cancel_request&);
  auto follow_index() -> bool;
  auto wake_parked() -> bool;
  void wake_due();
  void admit_waiting();
  auto arm() -> bool;
  void note_fired(std::uint64_t number) noexcept;
  void report_index();
  void tell_callers();
  void shut();

  // One operation; allocation_steps.ipp.
  void perform(operation&, allocation_action);
  void enqueue(operation&, operation_queue&);
  auto waiters_first(operation&) -> bool;
  auto may_write(operation const&) -> bool;
  auto nothing_for(operation&) -> allocation_action;
  auto oldest_wait() const -> timer::time_point;
  static auto dequeue(operation_queue&) -> operation&;
  auto pick_for(operation&, allocation_action&) -> bool;
  auto decide_for(operation&) -> bool;
  auto look_for(operation&, allocation_action&) -> bool;
  static auto update_of(operation const&, std::shared_ptr<game_server> desired) -> update_request;
  void draw_stamp(operation&);
  auto desired_of(operation&) -> std::shared_ptr<game_server>;
  auto send_update(operation&, allocation_action&) -> bool;
  auto send_read(operation&, allocation_action&) -> bool;
  void end_claim(operation&, claim_end);
  void refresh(operation&);
  void park(operation&);
  void unpark(operation&);
  void keep_outstanding(operation&);
  void release(operation&);
  auto judge_read_of(operation const&) const -> read_answer;

  // Several calls in one write; allocation_sharing.ipp.
  void form(operation&);
  void send_forming();
  void offer_to_waiters(operation& leader);
  auto joinable(operation&, std::size_t& shape_index) -> operation*;
  void join(operation&, operation& leader, std::size_t shape_index);
  void close_to_joiners(operation& leader);
  void put_into(operation&, game_server const& before, game_server&);
  void put_into_shared(operation&, game_server&);
  static auto expiry_of(operation const&) -> std::optional<wall_time>;  ///< of the claim it makes
  void end_sharing(operation& leader, shared_fate);
  void land();

  // Ids and claims; allocation_claims.ipp.
  static auto allocates(operation const& op) noexcept -> bool { return !op.claim || op.claim->what == claim_purpose::allocate; }
  auto line_for(operation const& op) noexcept -> operation_queue& { return allocates(op) ? waiting_ : urgent_; }
  auto wall() -> timer::wall_time;
  auto look_up(operation&, allocation_action&) -> claim_turn;
  auto holder_of(claim_part const&) -> game_server_ptr;
  auto lead(operation&, allocation_action&) -> claim_turn;
  static auto refuse_id(operation&, allocation_action&) -> claim_turn;
  static auto target_request(game_server const&) -> request_ptr;
  static auto changed_claim(operation&, allocation_action&) -> std::shared_ptr<game_server>;
  static auto judge_claim_of(operation const&, game_server const& now) -> read_answer;
  void leave_claim(operation&);
  void expect_expiry(expiring_claim, std::chrono::nanoseconds in);
  void sweep();
  void end_expired(expiring_claim const&);
  void note_expiry(operation&, outcome);
  void report_release(operation&, char const* reason);

  // The readiness gate, where there is one; allocation_gate.ipp.
  auto put_pending(operation&, game_server&) -> bool;
  auto pick_another(operation const&, pick&, std::size_t shapes) -> pick_status;
  auto is_pending(game_server const&) const noexcept -> bool;
  void record_pending(game_server const&);
  auto goes_to_gate(operation const&, outcome) const noexcept -> bool;
  auto at_gate(operation&) -> operation::handler_type;

  // What is said about it; allocation_reports.ipp.
  void tell(operation&, allocation_action const&);
  void tell_of_claim(operation&, told&);
  void note_attempt(operation&, write_answer);
  void record_allocated(game_server const&, action_report const&);
  auto explain(request_ptr const&) -> std::shared_ptr<breakdown const>;
  void log_unknown(operation const&, char const* what);

  boost::asio::any_io_executor executor_;
  boost::asio::any_completion_executor own_;
  allocator_options options_;
  std::shared_ptr<retry_policy const> retry_;
  allocator_ports ports_;
  ready_cache& cache_;
  store& store_;
  timer& timer_;
  random_source& random_;
  ranked_index index_;
  shared_string const local_{"local"};  ///< the source of what it allocates

  inbox inbox_;
  std::atomic<bool> scheduled_{false};
  std::atomic<bool> closing_{false};
  std::atomic<std::size_t> outstanding_{0};
  std::atomic<std::uint64_t> fired_{0};  ///< the newest wait that ended

  // Of the turn alone.
  inbox::message* backlog_{nullptr};
  operation_list all_;
  operation_queue waiting_;   ///< for max_writes
  operation_queue urgent_;    ///< the same, and first: confirmations, releases and expiries
  operation_queue building_;  ///< for their views
  operation_queue forming_;   ///< writes that are sent at the end of the turn
  operation_queue landed_;    ///< those whose shared write has ended
  boost::unordered_flat_map<std::uint64_t, operation*> leaders_;  ///< newest forming write that others may join, by their shapes
  wake_queue wakes_;
  boost::unordered_flat_map<std::uint64_t, operation*> parked_;
  boost::unordered_flat_map<claim_name, operation*, claim_name_hash> by_id_;  ///< who is at work for an id
  std::vector<due_claim> due_;                                ///< a heap, the earliest first
  std::vector<std::uint64_t> woken_;
  std::vector<told> told_;  ///< from next_told_ on: results that are ready
  std::size_t next_told_{0};
  boost::unordered_flat_map<std::uint64_t, explained> explained_;  ///< by their shapes
  timer::time_point explained_again_{timer::time_point::min()};   ///< not before, where there is one already
  timer::time_point now_{};
  timer::wall_time last_stamp_{timer::wall_time::min()};
  timer::wall_time wall_{};  ///< min(): not read in this turn
  std::uint64_t arrivals_{0};
  std::size_t writes_{0};
  std::size_t reported_writes_{0};
  std::uint64_t lost_claims_{0};                           ///< as they were reported
  timer::time_point index_due_{timer::time_point::min()};  ///< when its size is reported next
  std::size_t waits_{0};  ///< operations that wait for a server
  bool waits_changed_{false};
  bool waking_{false};
  boost::asio::cancellation_signal stop_waiting_;
  timer::time_point armed_until_{timer::time_point::max()};
  std::uint64_t armed_{0};    ///< number of the wait that is pending, if it has not fired
  int turns_unarmed_{0};
  bool waiting_for_time_{false};
  bool closed_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/detail/allocation_claims.ipp>
#include <agones_alloc/impl/async/detail/allocation_engine.ipp>
#include <agones_alloc/impl/async/detail/allocation_gate.ipp>
#include <agones_alloc/impl/async/detail/allocation_reports.ipp>
#include <agones_alloc/impl/async/detail/allocation_sharing.ipp>
#include <agones_alloc/impl/async/detail/allocation_steps.ipp>
#endif
