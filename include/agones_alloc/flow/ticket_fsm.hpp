// A matchmaker's wish for a game server as a state machine: asked for by an id, repeated until it is answered, confirmed.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/backoff.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <chrono>
#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class ticket_step : std::uint8_t {
  allocate,  ///< ask for a server, by the id
  confirm,   ///< ask to confirm the claim of the id
  release,   ///< ask to end it
  sleep,     ///< nothing to do; call time_passed() at `until`
  finished,  ///< tell the caller `result`
};

struct ticket_action {
  using time_point = std::chrono::steady_clock::time_point;
  ticket_step step{ticket_step::finished};
  bool next_endpoint{false};  ///< ask another replica from here on
  outcome result{outcome::unavailable};
  time_point until{time_point::max()};
  std::chrono::nanoseconds retry_after{0};  ///< with `contention` and `unavailable`: when trying again may help
  friend auto operator==(ticket_action const&, ticket_action const&) -> bool = default;
};

/// What a request of a ticket came to.
enum class ticket_answer : std::uint8_t {
  done,         ///< a server was handed out; the claim is confirmed; it is released
  other,        ///< of a confirmation: it is confirmed, and on another server than the one handed out
  missing,      ///< of a confirmation or release: there is no such claim, by what that replica knows
  exhausted,    ///< nothing matches
  contention,   ///< nothing was done, and trying again may help
  unavailable,  ///< the same, and another replica may know better
  unknown,      ///< sent, and nobody knows what became of it
  invalid,
  refused,
};

struct ticket_rules {
  backoff_options retry{backoff_options::endless(std::chrono::milliseconds{50}, std::chrono::seconds{2})};
  /// A claim that a replica does not know is asked for so long: its watch may lag behind another replica's write.
  std::chrono::nanoseconds known_by_all{std::chrono::seconds{5}};
};

/// The rules: every request carries the same id, so that it may be repeated whatever became of the last one. Who has a server but
/// no confirmation has nothing yet: `allocated` is said once the claim is confirmed. A claim that ended before it could be confirmed
/// is followed by another allocation. As long as a request was lost, the end is `unknown` and not `exhausted`,
/// `contention`, `unavailable`, `cancelled` or `deadline`: those mean that nothing was taken.
///
/// A value; not thread-safe. Events that do not fit the state change nothing.
class ticket_fsm {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// `rules` must outlive it.
  ticket_fsm(ticket_rules const& rules, time_point deadline) noexcept : rules_{&rules}, deadline_{deadline} {}

  /// For a server. `wait_until`: so long it asks again where nothing matches. `claim_ttl`: of the claim, 0 for none, which needs no
  /// confirmation.
  AGONES_ALLOC_DECL auto start(time_point now, time_point wait_until, std::chrono::nanoseconds claim_ttl, bool confirm) noexcept
      -> ticket_action;
  /// For the claim of an earlier ticket: ticket_step::confirm or release. `exhausted`: there is none.
  AGONES_ALLOC_DECL auto start_claim(ticket_step, time_point now) noexcept -> ticket_action;
  /// `draw`: uniform in [0, 1). `advice`: the server's Retry-After, 0 for none.
  AGONES_ALLOC_DECL auto answered(ticket_answer, time_point now, double draw,
                                  std::chrono::nanoseconds advice = std::chrono::nanoseconds{0}) noexcept -> ticket_action;
  AGONES_ALLOC_DECL auto time_passed(time_point now) noexcept -> ticket_action;
  /// The caller goes: the next event ends it. What is under way is to be withdrawn.
  void leave() noexcept { leaving_ = true; }

  auto confirmed() const noexcept -> bool { return confirmed_; }
  /// So long the server itself may wait.
  auto wait_until() const noexcept -> time_point { return wait_until_; }

 private:
  auto ask(time_point now) noexcept -> ticket_action;
  auto again(outcome otherwise, bool next_endpoint, time_point now, double draw, std::chrono::nanoseconds advice) noexcept
      -> ticket_action;
  auto idle() const noexcept -> ticket_action;
  auto finish(outcome) noexcept -> ticket_action;
  auto end(outcome) noexcept -> ticket_action;
  auto missed(time_point now, double draw) noexcept -> ticket_action;

  ticket_rules const* rules_;
  time_point deadline_;
  time_point wait_until_{time_point::min()};
  time_point lease_end_{time_point::max()};  ///< when the claim that is to be confirmed has ended
  time_point missing_since_{time_point::max()};
  std::chrono::nanoseconds claim_ttl_{0};
  std::uint32_t failures_{0};
  ticket_step asks_{ticket_step::allocate};
  bool sleeping_{false};
  bool finished_{false};
  bool confirms_{false};
  bool confirmed_{false};
  bool alone_{false};    ///< about a claim only
  bool lost_{false};     ///< what became of a request is not known
  bool lost_last_{false};
  bool holds_{false};    ///< a server was handed out and not confirmed
  bool leaving_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/ticket_fsm.ipp>
#endif
