// One wait that can be put off without a system call.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Deadlines mostly move later: the wait that is pending stays, and looks again when it ends. Owned by the object whose
/// on_alarm() it calls, on the executor given.
class client_alarm {
 public:
  using time_point = timer::time_point;

  client_alarm(timer& time, boost::asio::any_io_executor executor) : time_{&time}, executor_{std::move(executor)} {}

  /// time_point::max(): never. The wait that is pending keeps `self` alive.
  template <class Self>
  void set(time_point when, std::shared_ptr<Self> self) {
    when_ = when;
    if (armed_ <= when) return;
    stop();
    when_ = armed_ = when;
    auto handler = [this, self = std::move(self), number = number_](error_code) mutable {
      if (number != number_) return;
      armed_ = time_point::max();
      if (time_->now() < when_) {
        set(when_, std::move(self));
      } else {
        self->on_alarm();
      }
    };
    time_->async_wait_until(when, boost::asio::bind_cancellation_slot(
                                      cancel_.slot(), boost::asio::bind_executor(executor_, std::move(handler))));
  }

  void stop() {
    ++number_;
    when_ = armed_ = time_point::max();
    cancel_.emit(boost::asio::cancellation_type::terminal);
  }

 private:
  timer* time_;
  boost::asio::any_io_executor executor_;
  boost::asio::cancellation_signal cancel_;
  time_point when_{time_point::max()};   ///< wanted
  time_point armed_{time_point::max()};  ///< pending
  std::uint64_t number_{0};              ///< of the wait that counts
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
