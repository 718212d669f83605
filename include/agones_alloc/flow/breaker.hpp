// Keeps calls away from an endpoint that does not answer. A pure value: time and draws are passed in.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/backoff.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct breaker_options {
  std::uint32_t failures{3};  ///< in a row, until it opens; at least 1
  /// How long it stays open: the first time, and longer after each probe that fails.
  backoff_options open{backoff_options::endless(std::chrono::seconds{1}, std::chrono::seconds{30})};
};

/// Throws std::invalid_argument naming the option that is out of range.
AGONES_ALLOC_DECL void check(breaker_options const&);

enum class breaker_state : std::uint8_t {
  closed,     ///< every call goes
  open,       ///< none does
  half_open,  ///< a probe is under way: its end decides
};
AGONES_ALLOC_DECL auto to_string(breaker_state) noexcept -> std::string_view;

/// A call asks, and hands back what it was told when it has ended, once. Who probes: the first call that asks when it was open
/// for long enough; or, where a driver does so by itself and keeps calls away meanwhile, `begin_probe` and `probed`.
class breaker {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  enum class admission : std::uint8_t { no, yes, probe };

  AGONES_ALLOC_DECL auto ask(time_point now) noexcept -> admission;
  /// The endpoint has answered, whatever it said. Closes, also for a call that began before it opened.
  AGONES_ALLOC_DECL void succeeded() noexcept;
  /// `draw`: uniform in [0, 1), for the jitter. A call that began before it opened changes nothing any more.
  AGONES_ALLOC_DECL void failed(admission, time_point now, double draw, breaker_options const&) noexcept;
  /// The call says nothing about the endpoint: its caller left. The next one may probe.
  AGONES_ALLOC_DECL void withdrawn(admission, time_point now) noexcept;

  /// False: it is not open, or not for long enough yet.
  AGONES_ALLOC_DECL auto begin_probe(time_point now) noexcept -> bool;
  /// With an answer it closes. Calls are what counts, however: the first that fails opens it again, for longer than before.
  AGONES_ALLOC_DECL void probed(bool answers, time_point now, double draw, breaker_options const&) noexcept;

  auto state() const noexcept -> breaker_state { return state_; }
  auto failures() const noexcept -> std::uint32_t { return failures_; }  ///< in a row
  auto open_until() const noexcept -> time_point { return until_; }      ///< while open

 private:
  void open(time_point now, double draw, breaker_options const&) noexcept;

  breaker_state state_{breaker_state::closed};
  std::uint32_t failures_{0};
  std::uint32_t openings_{0};  ///< in a row
  time_point until_{};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/breaker.ipp>
#endif
