#pragma once

#include <agones_alloc/async/asio_timer.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

// Keeps the timer until the wait is over, and says `cancelled` in our words.
class steady_wait {
 public:
  using executor_type = boost::asio::any_completion_executor;
  using cancellation_slot_type = boost::asio::cancellation_slot;

  steady_wait(std::unique_ptr<boost::asio::steady_timer> waiting, timer::handler done)
      : executor_{boost::asio::get_associated_executor(done, executor_type{waiting->get_executor()})},
        slot_{boost::asio::get_associated_cancellation_slot(done)}, waiting_{std::move(waiting)}, done_{std::move(done)} {}

  auto get_executor() const noexcept -> executor_type { return executor_; }
  auto get_cancellation_slot() const noexcept -> cancellation_slot_type { return slot_; }
  void operator()(error_code ec) {
    waiting_.reset();
    std::move(done_)(ec ? error_code{errc::cancelled} : ec);
  }

 private:
  executor_type executor_;
  cancellation_slot_type slot_;
  std::unique_ptr<boost::asio::steady_timer> waiting_;
  timer::handler done_;
};

}  // namespace detail

AGONES_ALLOC_DECL auto asio_timer::now() const noexcept -> time_point { return std::chrono::steady_clock::now(); }

AGONES_ALLOC_DECL auto asio_timer::wall_now() const noexcept -> wall_time {
  return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
}

AGONES_ALLOC_DECL void asio_timer::do_wait_until(time_point when, handler done) {
  auto waiting = std::make_unique<boost::asio::steady_timer>(executor_, when);
  auto& its = *waiting;
  its.async_wait(detail::steady_wait{std::move(waiting), std::move(done)});
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
