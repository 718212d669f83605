// Port: time. The library reads no clock and starts no timer elsewhere.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Clock and waits. `asio_timer` is the real one, `manual_timer` runs only when told.
/// Thread safety: now() and wall_now() from any thread; waits from one executor.
class timer {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using wall_time = std::chrono::sys_time<std::chrono::nanoseconds>;
  using handler = boost::asio::any_completion_handler<void(error_code)>;

  virtual ~timer() = default;
  virtual auto now() const noexcept -> time_point = 0;       ///< monotonic, for deadlines
  virtual auto wall_now() const noexcept -> wall_time = 0;   ///< for timestamps written to objects

  /// Completes at `when`, at the earliest with the next turn of the loop. Handler signature: void(error_code);
  /// error: cancelled. Cancellation: terminal.
  template <class Token = boost::asio::deferred_t>
  auto async_wait_until(time_point when, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code)>(
        [this](auto h, time_point t) { do_wait_until(t, handler{std::move(h)}); }, token, when);
  }

 private:
  virtual void do_wait_until(time_point, handler) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
