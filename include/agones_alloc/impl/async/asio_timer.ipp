#pragma once

#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/detail/complete.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <mutex>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

// One wait. The lock lets the slot be used on one thread while the timer fires on another.
class steady_wait : public std::enable_shared_from_this<steady_wait> {
 public:
  steady_wait(boost::asio::any_io_executor const& executor, timer::time_point when, timer::handler done)
      : own_{executor}, timer_{executor, when}, done_{std::move(done)} {}

  void start() {
    auto slot = boost::asio::get_associated_cancellation_slot(done_);
    if (slot.is_connected()) {
      slot.assign([weak = weak_from_this()](boost::asio::cancellation_type type) {
        if (type == boost::asio::cancellation_type::none) return;
        if (auto const self = weak.lock()) self->cancel();
      });
    }
    std::lock_guard const lock{mutex_};
    timer_.async_wait([self = shared_from_this()](error_code ec) { self->finish(ec); });
  }

 private:
  void cancel() {
    std::lock_guard const lock{mutex_};
    timer_.cancel();
  }
  void finish(error_code ec) { complete(own_, std::move(done_), ec ? error_code{errc::cancelled} : ec); }

  boost::asio::any_completion_executor own_;
  std::mutex mutex_;
  boost::asio::steady_timer timer_;
  timer::handler done_;
};

}  // namespace detail

AGONES_ALLOC_DECL auto asio_timer::now() const noexcept -> time_point { return std::chrono::steady_clock::now(); }

AGONES_ALLOC_DECL auto asio_timer::wall_now() const noexcept -> wall_time {
  return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
}

AGONES_ALLOC_DECL void asio_timer::do_wait_until(time_point when, handler done) {
  std::make_shared<detail::steady_wait>(executor_, when, std::move(done))->start();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
