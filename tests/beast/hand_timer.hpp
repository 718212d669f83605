// A clock that stands until it is told to move.
#pragma once

#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <list>
#include <utility>

namespace beast_test {

class hand_timer final : public agones_alloc::timer {
 public:
  explicit hand_timer(boost::asio::any_io_executor executor) : executor_{std::move(executor)} {}

  auto now() const noexcept -> time_point override { return now_; }
  auto wall_now() const noexcept -> wall_time override { return wall_; }

  /// Completes what is due, by posting.
  void advance(std::chrono::nanoseconds by) {
    now_ += by;
    wall_ += by;
    for (auto at = waits_.begin(); at != waits_.end();) {
      auto const here = at++;
      if (here->when <= now_) finish(here, {});
    }
  }
  auto waiting() const noexcept -> std::size_t { return waits_.size(); }

 private:
  struct wait {
    time_point when;
    handler done;
  };
  using place = std::list<wait>::iterator;

  void do_wait_until(time_point when, handler done) override {
    waits_.push_back({when, std::move(done)});
    auto const here = std::prev(waits_.end());
    auto slot = boost::asio::get_associated_cancellation_slot(here->done);
    if (slot.is_connected()) {
      slot.assign([this, here](boost::asio::cancellation_type) { finish(here, agones_alloc::errc::cancelled); });
    }
    if (when <= now_) finish(here, {});
  }

  void finish(place here, agones_alloc::error_code ec) {
    boost::asio::get_associated_cancellation_slot(here->done).clear();
    boost::asio::post(executor_, [done = std::move(here->done), executor = executor_, ec]() mutable {
      auto const target = boost::asio::get_associated_executor(done, executor);
      boost::asio::dispatch(target, boost::asio::append(std::move(done), ec));
    });
    waits_.erase(here);
  }

  boost::asio::any_io_executor executor_;
  std::list<wait> waits_;
  time_point now_{std::chrono::hours{1}};
  wall_time wall_{std::chrono::sys_days{std::chrono::year{2026} / 11 / 29} + std::chrono::hours{12}};
};

}  // namespace beast_test
