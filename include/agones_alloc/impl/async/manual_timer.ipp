#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/manual_timer.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <map>
#include <mutex>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

class manual_timer_core : public std::enable_shared_from_this<manual_timer_core> {
 public:
  using time_point = timer::time_point;
  using key = std::pair<time_point, std::uint64_t>;  // equal times complete in order of their start

  manual_timer_core(boost::asio::any_io_executor executor, time_point start, timer::wall_time wall_start)
      : executor_{std::move(executor)}, now_{start}, wall_offset_{wall_start.time_since_epoch() - start.time_since_epoch()} {}

  auto now() const -> time_point {
    std::lock_guard const lock{mutex_};
    return now_;
  }
  auto wall_now() const -> timer::wall_time {
    std::lock_guard const lock{mutex_};
    return timer::wall_time{now_.time_since_epoch() + wall_offset_};
  }
  void move_wall(std::chrono::nanoseconds by) {
    std::lock_guard const lock{mutex_};
    wall_offset_ += by;
  }

  void wait(time_point when, timer::handler done) {
    std::lock_guard const lock{mutex_};
    key const id{when, ++last_};
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    if (slot.is_connected()) {
      slot.assign([weak = weak_from_this(), id](boost::asio::cancellation_type type) {
        if (type == boost::asio::cancellation_type::none) return;
        if (auto const self = weak.lock()) self->cancel(id);
      });
    }
    waits_.emplace(id, std::move(done));
    release();
  }

  void advance(std::chrono::nanoseconds by) {
    std::lock_guard const lock{mutex_};
    now_ += by;
    release();
  }

  auto advance_to_next() -> bool {
    std::lock_guard const lock{mutex_};
    if (waits_.empty()) return false;
    now_ = waits_.begin()->first.first;
    release();
    return true;
  }

  auto next() const -> std::optional<time_point> {
    std::lock_guard const lock{mutex_};
    if (waits_.empty()) return std::nullopt;
    return waits_.begin()->first.first;
  }

  auto pending() const -> std::size_t {
    std::lock_guard const lock{mutex_};
    return waits_.size();
  }

  void close() {
    std::lock_guard const lock{mutex_};
    for (auto& [id, done] : waits_) finish(std::move(done), errc::cancelled);
    waits_.clear();
  }

 private:
  void cancel(key id) {
    std::lock_guard const lock{mutex_};
    auto const at = waits_.find(id);
    if (at == waits_.end()) return;
    finish(std::move(at->second), errc::cancelled);
    waits_.erase(at);
  }

  void release() {
    while (!waits_.empty() && waits_.begin()->first.first <= now_) {
      finish(std::move(waits_.begin()->second), {});
      waits_.erase(waits_.begin());
    }
  }

  void finish(timer::handler done, error_code ec) {
    boost::asio::post(executor_, [own = boost::asio::any_completion_executor{executor_}, h = std::move(done), ec]() mutable {
      complete(own, std::move(h), ec);
    });
  }

  boost::asio::any_io_executor executor_;
  mutable std::mutex mutex_;
  time_point now_;
  std::chrono::nanoseconds wall_offset_;
  std::map<key, timer::handler> waits_;
  std::uint64_t last_{0};
};

}  // namespace detail

AGONES_ALLOC_DECL manual_timer::manual_timer(boost::asio::any_io_executor executor, time_point start,
                                             wall_time wall_start)
    : core_{std::make_shared<detail::manual_timer_core>(std::move(executor), start, wall_start)} {}
AGONES_ALLOC_DECL manual_timer::~manual_timer() { core_->close(); }
AGONES_ALLOC_DECL auto manual_timer::now() const noexcept -> time_point { return core_->now(); }
AGONES_ALLOC_DECL auto manual_timer::wall_now() const noexcept -> wall_time { return core_->wall_now(); }
AGONES_ALLOC_DECL void manual_timer::advance(std::chrono::nanoseconds by) { core_->advance(by); }
AGONES_ALLOC_DECL void manual_timer::move_wall(std::chrono::nanoseconds by) { core_->move_wall(by); }
AGONES_ALLOC_DECL auto manual_timer::advance_to_next() -> bool { return core_->advance_to_next(); }
AGONES_ALLOC_DECL auto manual_timer::next() const -> std::optional<time_point> { return core_->next(); }
AGONES_ALLOC_DECL auto manual_timer::pending() const -> std::size_t { return core_->pending(); }
AGONES_ALLOC_DECL void manual_timer::do_wait_until(time_point when, handler done) { core_->wait(when, std::move(done)); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
