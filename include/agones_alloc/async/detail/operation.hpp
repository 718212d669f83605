// One call of an allocator, or one claim that is being read back: its state machine and what it needs to go on.
#pragma once

#include <agones_alloc/async/detail/block_cache.hpp>
#include <agones_alloc/async/detail/claim_name.hpp>
#include <agones_alloc/async/detail/claim_purpose.hpp>
#include <agones_alloc/async/detail/inbox.hpp>
#include <agones_alloc/async/detail/wake_queue.hpp>
#include <agones_alloc/cache/index/claim_book.hpp>
#include <agones_alloc/cache/server_handle.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/async/gate_request.hpp>
#include <agones_alloc/flow/allocation_fsm.hpp>
#include <agones_alloc/flow/pending.hpp>
#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/port/store.hpp>
#include <agones_alloc/port/timer.hpp>
#include <agones_alloc/select/apply.hpp>
#include <agones_alloc/select/claim.hpp>
#include <agones_alloc/select/request.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/intrusive/list.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

class allocation_engine;
class gated_call;
struct operation;

struct engine_message : inbox::message {
  enum class kind : std::uint8_t { start, update_answer, read_answer, cancel };
  explicit engine_message(kind k) noexcept : what{k} {}
  kind what;
};

/// Outlives its operation: a slot may be used at any time. `of` belongs to the engine's turn.
class cancel_request : public engine_message {
 public:
  cancel_request(std::weak_ptr<allocation_engine> e, operation* op) noexcept
      : engine_message{kind::cancel}, engine{std::move(e)}, of{op} {}
  std::weak_ptr<allocation_engine> engine;
  operation* of;
  std::atomic<bool> requested{false};
  std::shared_ptr<cancel_request> in_inbox;  ///< keeps it while the engine has yet to look
  boost::asio::cancellation_signal withdraw;  ///< towards the store

  /// The call goes on at the readiness gate: from now on that is who is told. Any thread, as the next.
  void hand_over(std::weak_ptr<gated_call> to) {
    std::lock_guard const lock{mutex_};
    gated_ = std::move(to);
  }
  auto at_gate() const -> std::shared_ptr<gated_call> {
    std::lock_guard const lock{mutex_};
    return gated_.lock();
  }

 private:
  mutable std::mutex mutex_;
  std::weak_ptr<gated_call> gated_;
};

using operation_hook = boost::intrusive::list_base_hook<boost::intrusive::tag<struct all_tag>>;
using queue_hook = boost::intrusive::list_base_hook<boost::intrusive::tag<struct queue_tag>>;
using operation_list = boost::intrusive::list<operation, boost::intrusive::base_hook<operation_hook>>;
using operation_queue = boost::intrusive::list<operation, boost::intrusive::base_hook<queue_hook>>;

/// What an operation with a request id, or on an earlier one's claim, has besides.
struct claim_part : recycled<claim_part> {
  /// From the start, so that it can be told who is at work for the same id.
  void identify(shared_string in, shared_string by) {
    ns = std::move(in);
    id = std::move(by);
    hash = claim_hash(id);
  }
  auto name() const noexcept -> claim_name { return {ns, id, hash}; }

  claim_purpose what{claim_purpose::allocate};
  release_to to{release_to::ready};
  bool leads{false};     ///< it is the one at work for its id
  bool repeated{false};  ///< the answer is that of an earlier call
  bool misused{false};   ///< the id belongs to another request
  bool drawn{false};     ///< the caller gave no id
  bool game_confirms{true};  ///< the picked server's labels may confirm claims
  // By identify() alone: while it leads, the engine's table shows these.
  shared_string id;
  shared_string ns;
  std::size_t hash{0};
  std::uint64_t digest{0};
  std::optional<std::chrono::nanoseconds> ttl;
  string_map written;    ///< the annotations with the claim, where it was written as the only one; else empty
  wall_time expires{};   ///< of the claim that is to end
  std::uint32_t slot{0};
  release_report not_undone;
  operation_queue followers;
};

/// Owned by its engine from the start; others touch `incoming`, `incoming_ec` and `dropped` alone, to deliver the
/// one answer it waits for.
struct operation : recycled<operation>, engine_message, wake_queue::entry, operation_hook, queue_hook {
  using handler_type = boost::asio::any_completion_handler<void(error_code, allocation_result)>;

  operation(handler_type h, request_ptr r, allocation_fsm machine)
      : engine_message{kind::start}, handler{std::move(h)}, request{std::move(r)}, fsm{machine} {}

  handler_type handler;
  request_ptr request;
  allocation_fsm fsm;
  operation_queue* in_queue{nullptr};  ///< waits for a write to end, or for a view to be built
  std::uint64_t number{0};      ///< in order of arrival
  timer::time_point started{};
  timer::time_point deadline{timer::time_point::max()};
  timer::time_point try_started{};
  std::optional<timer::time_point> tentative_since;
  bool dry_run{false};
  std::shared_ptr<room_report> room;  ///< of a dry run: only to be filled
  std::size_t room_names{0};
  bool parked{false};           ///< the index knows `number`
  bool waits{false};            ///< it counts among those that wait for a server
  bool counted{false};          ///< its caller was told, and it counts as outstanding still

  // The claim.
  server_handle handle{};
  game_server_ptr base;
  std::uint32_t selector{0};
  timer::wall_time stamp{};     ///< the write's last-allocated
  action_report report;

  // The answer as it comes in on any thread; the turn reads it once it is in the inbox.
  error_code incoming_ec;
  store_result incoming;
  std::atomic<bool> dropped{false};  ///< the store let go of its handler without an answer

  // The answer that counts, and what was learnt before it.
  error_code ec;
  store_result answer;
  shared_copy<std::vector<attempt>> attempts;
  std::shared_ptr<cancel_request> cancel;
  std::unique_ptr<claim_part> claim;

  // Of the readiness gate.
  bool gated{false};  ///< a server that is pending, or was to be, is not the end of the call
  std::shared_ptr<gate_request const> gate;
  std::unique_ptr<pending_marker> pending;  ///< what this write makes of its server; null: Allocated

  // Of who leads a write that others may share.
  std::shared_ptr<game_server> ledger;  ///< the claimed server with all in it that is promised so far
  operation_queue joiners;              ///< in the same write, in order of arrival
  shared_fate fate{shared_fate::lost};  ///< of the write this one joined
};


}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
