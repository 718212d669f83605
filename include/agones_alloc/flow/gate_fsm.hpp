// One pending server as a state machine: what is seen of it goes in, what to do next comes out. No I/O, no clock.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/backoff.hpp>
#include <agones_alloc/flow/gate_settings.hpp>
#include <agones_alloc/flow/pending.hpp>
#include <agones_alloc/flow/write_fate.hpp>
#include <agones_alloc/model/readiness.hpp>

#include <chrono>
#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct gate_limits {
  /// So long the replica that owns a pending server has for what is due, before another one does it.
  std::chrono::nanoseconds takeover{std::chrono::seconds{2}};
  /// Between tries of a write that did not succeed.
  backoff_options retry{backoff_options::endless(std::chrono::milliseconds{10}, std::chrono::seconds{5})};
};

/// What is decided about a pending server, and then written.
enum class gate_verdict : std::uint8_t {
  none,
  passed,     ///< hand it over
  timed_out,  ///< its policy
  failed,     ///< the same: the game, or its check, says that it will not be ready
  abandoned,  ///< the same: its caller has left
  tidied,     ///< it is Ready again by itself: only the traces are to go
};

/// How the wait for a server ended.
enum class gate_end : std::uint8_t {
  ready,      ///< Allocated
  timed_out,
  failed,
  abandoned,
  gone,       ///< it died, was deleted, or was taken away
};

enum class gate_step : std::uint8_t {
  wait,      ///< until `until`, or until something is seen
  probe,     ///< begin a try of the check; answer with probed()
  write,     ///< write what `verdict` says, on the newest value; answer with written()
  read,      ///< read the server; answer with observed() or erased(), then read_done()
  finished,  ///< tell `end`, forget this machine
};

struct gate_action {
  using time_point = std::chrono::steady_clock::time_point;
  gate_step step{gate_step::wait};
  gate_verdict verdict{gate_verdict::none};
  gate_end end{gate_end::gone};
  time_point until{time_point::max()};
  friend auto operator==(gate_action const&, gate_action const&) -> bool = default;
};

/// The rules (spec 12.2): who owns the server acts at once, another replica only when that should long have happened; a
/// pass counts until the deadline, and from then on the policy; whatever is written carries the version that it was decided on, so
/// of two replicas one wins and the other sees how it ended. A write that may have been made is found by reading.
///
/// Events change the state; next() says what to do, and takes it as begun. A value; not thread-safe.
class gate_fsm {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// `limits` must outlive the machine. `mine`: this replica owns the server. `spread`: uniform in [0, 1), so that the checks of
  /// many servers do not come at one moment.
  AGONES_ALLOC_DECL gate_fsm(gate_settings const&, gate_limits const& limits, bool mine, time_point now, time_point deadline,
                             double spread) noexcept;

  /// A value of the server was seen, newer than the last one.
  AGONES_ALLOC_DECL void observed(pending_reading, time_point now) noexcept;
  /// It was seen as Allocated by another replica's write, with the allocation still on it.
  void observed_passed() noexcept { finish(gate_end::ready); }
  AGONES_ALLOC_DECL void erased() noexcept;
  AGONES_ALLOC_DECL void probed(probe_answer, time_point now) noexcept;
  /// The webhook was called: `ready` or not.
  AGONES_ALLOC_DECL void called(bool ready, time_point now) noexcept;
  AGONES_ALLOC_DECL void written(write_answer, time_point now, double draw) noexcept;
  AGONES_ALLOC_DECL void read_done(bool known, time_point now, double draw) noexcept;
  /// Nobody wants it any more.
  AGONES_ALLOC_DECL void abandon(time_point now) noexcept;
  AGONES_ALLOC_DECL auto next(time_point now) noexcept -> gate_action;

  auto verdict() const noexcept -> gate_verdict { return verdict_; }
  auto finished() const noexcept -> bool { return state_ == state::finished; }
  auto is_mine() const noexcept -> bool { return mine_; }
  auto is_writing() const noexcept -> bool { return state_ == state::writing; }
  auto deadline() const noexcept -> time_point { return deadline_; }

 private:
  enum class state : std::uint8_t { open, writing, to_read, reading, finished };

  void decide(gate_verdict, time_point when) noexcept;
  void finish(gate_end) noexcept;
  void pause(time_point now, double draw) noexcept;
  auto end_of_verdict() const noexcept -> gate_end;
  auto has_checks() const noexcept -> bool;
  auto pause_of_stream() noexcept -> std::chrono::nanoseconds;

  gate_limits const* limits_;
  std::chrono::nanoseconds period_;
  time_point deadline_;
  time_point next_probe_;
  std::chrono::nanoseconds second_after_{0};  ///< between the first two checks; 0: the first is over
  std::uint32_t ended_streams_{0};            ///< source sse
  time_point act_at_{time_point::min()};  ///< the verdict's write, or the read, not before
  std::uint32_t wanted_successes_;
  std::uint32_t wanted_failures_;
  std::uint32_t successes_{0};
  std::uint32_t failures_{0};
  std::uint32_t troubles_{0};  ///< writes and reads in a row that did not succeed
  gate_source source_;
  gate_verdict verdict_{gate_verdict::none};
  gate_end end_{gate_end::gone};
  state state_{state::open};
  bool mine_;
  bool probing_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/gate_fsm.ipp>
#endif
