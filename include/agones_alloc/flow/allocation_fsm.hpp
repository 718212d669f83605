// One allocation as a state machine: an event goes in, what to do next comes out. No I/O, no clock.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/backoff.hpp>
#include <agones_alloc/flow/write_fate.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <chrono>
#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct allocation_limits {
  /// How long a request waits for servers that are being written before it ends as `contention`.
  std::chrono::nanoseconds park{std::chrono::seconds{10}};
  /// Reads of a write whose fate is unknown before the caller is told `unknown`.
  std::uint32_t resolve_attempts{5};
  /// Between such reads, and between the reads that go on in the background.
  backoff_options resolve{backoff_options::endless(std::chrono::milliseconds{10}, std::chrono::seconds{5})};
};

enum class allocation_step : std::uint8_t {
  pick,      ///< choose and claim a server; answer with picked(), busy() or none()
  update,    ///< write the claimed server; call sent() when it is on its way, then answer with update_done()
  read,      ///< read the claimed server from the store; answer with read_done()
  sleep,     ///< nothing to do; call time_passed() at `until`
  park,      ///< call woken() when the index says so, time_passed() at `until`
  hold,      ///< an answer is on its way; call time_passed() at `until` if it has not come
  finished,  ///< forget this machine
};

/// What becomes of the claim, to be done before the step.
enum class claim_end : std::uint8_t {
  keep,
  put_back,  ///< not applied: the claimed value is good again
  settle,    ///< store the value that the last answer carried
  refresh,   ///< stale: keep it claimed and read it in the background (another machine, by start_refresh())
  remove,    ///< the object is gone
};

struct allocation_action {
  using time_point = std::chrono::steady_clock::time_point;
  allocation_step step{allocation_step::finished};
  claim_end claim{claim_end::keep};
  bool complete{false};       ///< tell the caller `result`, after the claim's end
  bool withdraw_write{false}; ///< cancel the write: it may not have been sent yet
  outcome result{outcome::unavailable};
  time_point until{time_point::max()};  ///< the latest moment for time_passed()
  std::chrono::nanoseconds retry_after{0};  ///< advice, with `contention` and `unavailable`
  friend auto operator==(allocation_action const&, allocation_action const&) -> bool = default;
};

/// What became of a write that several share.
enum class shared_fate : std::uint8_t {
  applied,
  lost,     ///< not applied: try again, as after a write of one's own
  left,     ///< not sent, or refused for its leader's sake: decide again at once
  unknown,  ///< may have been applied, or undone by somebody since
};

/// The rules: a server is claimed before it is written; a write known not to be applied puts the claimed value
/// back; a conflict does not, it asks for fresh data; a write of unknown fate is read back, and stays claimed,
/// beyond its caller's time if need be, until its fate is known. If it is not there, it may be on its way yet: no
/// other server is taken, but the same write sent again, as one of the two must fail. `cancelled` and `deadline` mean that nothing
/// was taken. The caller is told exactly once. Spec 6.1 (retries), 6.5, 6.7; Q3, Q4, Q12, Q22, Q44.
///
/// A value; not thread-safe. Events that do not fit the state (a wake that comes late) change nothing.
class allocation_fsm {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// `policy` and `limits` must outlive the machine. `wait_until`: so long it waits for a server where there is none
  /// (product: waiting instead of failing); time_point::min(): not at all.
  allocation_fsm(retry_policy const& policy, allocation_limits const& limits, time_point deadline,
                 time_point wait_until = time_point::min()) noexcept
      : policy_{&policy}, limits_{&limits}, deadline_{deadline}, wait_until_{wait_until} {}

  AGONES_ALLOC_DECL auto start(time_point now) noexcept -> allocation_action;
  /// Instead of start(): no caller, only a claim whose object is to be read until it is known.
  AGONES_ALLOC_DECL auto start_refresh() noexcept -> allocation_action;

  AGONES_ALLOC_DECL auto picked(time_point now) noexcept -> allocation_action;
  AGONES_ALLOC_DECL auto busy(time_point now) noexcept -> allocation_action;
  AGONES_ALLOC_DECL auto none(time_point now) noexcept -> allocation_action;
  /// True when none() would wait.
  auto would_wait(time_point now) const noexcept -> bool { return now < wait_until_ && now < deadline_; }
  /// Until then it waits for a server; time_point::min(): it does not.
  auto wait_until() const noexcept -> time_point { return wait_until_; }
  /// Parked because there is no server: only one that becomes free is news to it.
  auto is_patient() const noexcept -> bool { return waiting_; }
  /// Instead of picked(), busy() and none(): this is the answer.
  AGONES_ALLOC_DECL auto known(outcome result, std::chrono::nanoseconds advice = std::chrono::nanoseconds{0}) noexcept
      -> allocation_action;
  /// Instead of sent(): there is nothing to write, and this is the answer.
  AGONES_ALLOC_DECL auto nothing_to_write(outcome result) noexcept -> allocation_action;
  /// Instead of picked(): it shares the write of another machine's claim, whose fate join_ended() tells.
  AGONES_ALLOC_DECL auto join() noexcept -> allocation_action;
  AGONES_ALLOC_DECL auto join_ended(shared_fate, time_point now, double draw) noexcept -> allocation_action;
  AGONES_ALLOC_DECL auto sent() noexcept -> allocation_action;
  /// `draw`: uniform in [0, 1), for the jitter. `advice`: the store's own retry-after, 0 for none.
  AGONES_ALLOC_DECL auto update_done(write_answer, time_point now, double draw,
                                     std::chrono::nanoseconds advice = std::chrono::nanoseconds{0}) noexcept
      -> allocation_action;
  AGONES_ALLOC_DECL auto read_done(read_answer, time_point now, double draw) noexcept -> allocation_action;
  AGONES_ALLOC_DECL auto time_passed(time_point now) noexcept -> allocation_action;
  AGONES_ALLOC_DECL auto woken(time_point now) noexcept -> allocation_action;
  /// The caller leaves. Before a write: ends at once. After: ends as soon as the write's fate is known, or
  /// as `unknown` when it is being read back.
  AGONES_ALLOC_DECL auto cancel(time_point now) noexcept -> allocation_action;

  /// For a write that is to be found by its id: it goes on until its fate is known, also when its caller has left.
  void see_it_through() noexcept { persistent_ = true; }
  /// The next write must be the same as the last: that one may still be on its way.
  auto repeats() const noexcept -> bool { return haunted_; }

  auto tries() const noexcept -> std::uint32_t { return tries_; }  ///< writes sent
  auto finished() const noexcept -> bool { return state_ == state::finished; }
  auto has_caller() const noexcept -> bool { return caller_; }
  /// True from the claim to its end.
  auto claiming() const noexcept -> bool { return claiming_; }

 private:
  enum class state : std::uint8_t { picking, claimed, writing, reading, read_pause, retry_pause, repeat_pause, parked, joined, finished };

  auto hold() const noexcept -> allocation_action;
  auto parked_until() const noexcept -> time_point;
  auto finish(outcome, claim_end = claim_end::keep) noexcept -> allocation_action;
  auto tell(outcome) noexcept -> allocation_action;
  auto try_again(claim_end, bool lost_race, time_point now, double draw, std::chrono::nanoseconds advice) noexcept
      -> allocation_action;
  auto read_back() noexcept -> allocation_action;
  auto give_up() noexcept -> allocation_action;
  auto repeat(time_point now, double draw) noexcept -> allocation_action;

  retry_policy const* policy_;
  allocation_limits const* limits_;
  time_point deadline_;
  time_point wake_{time_point::max()};        ///< end of the present pause
  time_point wait_until_;
  time_point park_until_{time_point::max()};  ///< set when first parked for servers that are being written
  std::uint32_t tries_{0};
  std::uint32_t failures_{0};
  std::uint32_t reads_{0};
  state state_{state::picking};
  bool caller_{true};     ///< somebody waits for the result
  bool leaving_{false};   ///< cancelled while a write was under way
  bool claiming_{false};
  bool persistent_{false};
  bool haunted_{false};   ///< a write whose answer was lost may still be applied to what is claimed
  bool waiting_{false};   ///< parked because there was no server, not because all were being written
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/allocation_fsm.ipp>
#endif
