// One call whose server is pending at the readiness gate: allocations, one after the other, until a server is handed over.
#pragma once

#include <agones_alloc/async/allocator_options.hpp>
#include <agones_alloc/async/detail/allocation_engine.hpp>
#include <agones_alloc/async/detail/gate_core.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Its steps follow each other, on the engine's or the gate's executor; only `cancel` comes from elsewhere. Whatever it waits for holds it, and
/// it holds neither engine nor gate: what is dropped with an executor is gone.
class gated_call : public std::enable_shared_from_this<gated_call> {
 public:
  using handler_type = operation::handler_type;

  gated_call(std::shared_ptr<allocation_engine> const& engine, std::shared_ptr<gate_core> const& gate, allocate_options call, handler_type done)
      : engine_{engine},
        gate_{gate},
        own_{gate->own()},
        clock_{&gate->clock()},
        counts_{engine->ports().counts},
        timeout_{engine->options().timeout},
        call_{std::move(call)},
        done_{std::move(done)} {}

  /// An allocation, whose first try follows by tried(). Whoever makes it tells it of a cancellation, if there can be one.
  AGONES_ALLOC_DECL void begin(request_ptr, timer::time_point started, timer::time_point wait_until, bool can_be_cancelled);
  /// What the engine came to. On its executor.
  AGONES_ALLOC_DECL void tried(allocation_result);
  /// Any thread.
  AGONES_ALLOC_DECL void cancel();
  /// A claim that may be of a pending server: confirmed when it is ready, released at once.
  AGONES_ALLOC_DECL void on_claim(claim_purpose, release_to, shared_string ns, shared_string id);

 private:
  using result_type = allocation_result;

  void hear_cancellation();
  auto is_cancelled() const noexcept -> bool { return cancelled_.load(std::memory_order_acquire); }
  void try_one();
  void ask_claim();
  void asked(error_code, result_type);
  void await(result_type, bool give_up);
  auto not_ended_result(error_code) const noexcept -> outcome;
  void ended(error_code, gate_result);
  void not_ready(gate_result const&);
  void complete_with(error_code, result_type);
  void finish(error_code, result_type);
  void closed();

  std::weak_ptr<allocation_engine> engine_;
  std::weak_ptr<gate_core> gate_;
  boost::asio::any_completion_executor own_;
  timer* clock_;
  metrics* counts_;
  std::chrono::nanoseconds timeout_;
  allocate_options call_;
  handler_type done_;
  request_ptr request_;
  timer::time_point started_{};
  timer::time_point deadline_{};
  timer::time_point wait_until_{};
  result_type claimed_;  ///< of the server that is pending
  std::vector<attempt> attempts_;
  std::vector<object_key> avoid_;
  std::uint32_t tried_{0};
  std::uint32_t writes_{0};
  bool has_id_{false};
  bool can_be_cancelled_{false};

  claim_purpose purpose_{claim_purpose::allocate};
  release_to to_{release_to::ready};
  shared_string ns_;
  shared_string id_;

  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::shared_ptr<boost::asio::cancellation_signal> stop_;  ///< of the engine's operation
  std::uint64_t waiter_{0};                                 ///< at the gate
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/detail/gated_call.ipp>
#endif
