// Time that passes only when told: for tests, simulations and accelerated fleets.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class manual_timer_core;
}

/// Starts at `start` and stands still. Thread safety: all functions from any thread.
/// Destroying it completes the pending waits with errc::cancelled.
class manual_timer final : public timer {
 public:
  AGONES_ALLOC_DECL explicit manual_timer(
      boost::asio::any_io_executor, time_point start = time_point{std::chrono::hours{1}},
      wall_time wall_start = wall_time{std::chrono::seconds{1'600'000'000}});
  AGONES_ALLOC_DECL ~manual_timer() override;

  AGONES_ALLOC_DECL auto now() const noexcept -> time_point override;
  AGONES_ALLOC_DECL auto wall_now() const noexcept -> wall_time override;

  /// Moves both clocks; the waits that are due complete on the executor, in the order of their times.
  AGONES_ALLOC_DECL void advance(std::chrono::nanoseconds);
  /// Moves the wall clock only, as when somebody sets it; back where negative. No wait is touched.
  AGONES_ALLOC_DECL void move_wall(std::chrono::nanoseconds);
  /// Moves to the next pending wait, if there is one that is not due already; false when there is none.
  AGONES_ALLOC_DECL auto advance_to_next() -> bool;
  AGONES_ALLOC_DECL auto next() const -> std::optional<time_point>;
  AGONES_ALLOC_DECL auto pending() const -> std::size_t;

 private:
  AGONES_ALLOC_DECL void do_wait_until(time_point, handler) override;

  std::shared_ptr<detail::manual_timer_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/manual_timer.ipp>
#endif
