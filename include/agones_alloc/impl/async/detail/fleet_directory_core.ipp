#pragma once

#include <agones_alloc/async/detail/fleet_directory_core.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <iterator>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

AGONES_ALLOC_DECL fleet_directory_core::fleet_directory_core(boost::asio::any_io_executor executor, timer& time,
                                                             fleet_book_options options, std::chrono::nanoseconds gather,
                                                             std::string instance)
    : executor_{std::move(executor)},
      own_{executor_},
      timer_{time},
      gather_{gather},
      instance_{std::move(instance)},
      book_{std::move(options)} {}

AGONES_ALLOC_DECL void fleet_directory_core::heard() {
  synced_ = true;
  cluster_info local;
  local.name = book_.options().cluster;
  local.local = local.synced = true;
  local.observed = timer_.wall_now();
  book_.set_cluster(std::move(local));
}

AGONES_ALLOC_DECL void fleet_directory_core::lost(error_code why) {
  cluster_info local;
  local.name = book_.options().cluster;
  local.code = why == errc::refused ? 7 : why == errc::too_many_requests ? 8 : 14;
  local.message = why.message();
  local.local = local.stale = true;
  local.synced = synced_;
  local.observed = timer_.wall_now();
  book_.set_cluster(std::move(local));
}

AGONES_ALLOC_DECL void fleet_directory_core::count_watch(int by) {
  std::lock_guard const lock{mutex_};
  watches_ += by;
}

AGONES_ALLOC_DECL void fleet_directory_core::store(game_server_ptr const& server) {
  constexpr std::size_t together = 32;
  std::lock_guard const lock{mutex_};
  gathered_.push_back(server);
  if (gathered_.size() >= together) store_gathered();
  want_publication();
}

AGONES_ALLOC_DECL void fleet_directory_core::store_gathered() {
  if (gathered_.empty()) return;
  book_.store(gathered_);
  gathered_.clear();
}

AGONES_ALLOC_DECL void fleet_directory_core::want_publication() {
  if (wanted_ || stopped_ || (gathered_.empty() && !book_.is_urgent())) return;
  wanted_ = true;
  boost::asio::post(executor_, [self = shared_from_this()] { self->publish(); });
}

inline void fleet_directory_core::publish() {
  std::vector<waiter> told;
  auto again = timer::time_point::max();
  {
    std::lock_guard const lock{mutex_};
    if (stopped_) return;
    auto const now = timer_.now();
    if (now < next_) {
      again = next_;
    } else {
      store_gathered();
      wanted_ = false;
      next_ = now + gather_;
      bool const due = book_.is_urgent() || book_.next_due() <= now;  // not when what was gathered has changed nothing new
      if (due && book_.publish(now, timer_.wall_now())) {
        ++publications_;
        told.swap(waiters_);
      }
      if (book_.next_due() != timer::time_point::max()) again = std::max(book_.next_due(), next_);
    }
  }
  if (again != timer::time_point::max()) publish_at(again);
  tell(std::move(told), {});
}

inline void fleet_directory_core::publish_at(timer::time_point when) {
  if (armed_ <= when) return;
  waiting_.emit(boost::asio::cancellation_type::terminal);
  armed_ = when;
  timer_.async_wait_until(
      when, boost::asio::bind_cancellation_slot(
                waiting_.slot(), boost::asio::bind_executor(executor_, [self = shared_from_this(), when](error_code ec) {
                  if (ec || self->armed_ != when) return;
                  self->armed_ = timer::time_point::max();
                  self->publish();
                })));
}

AGONES_ALLOC_DECL void fleet_directory_core::wait(fleet_cursor const& from, handler done) {
  auto slot = boost::asio::get_associated_cancellation_slot(done);
  std::vector<waiter> now;
  bool ended = false;
  {
    std::lock_guard const lock{mutex_};
    auto const id = ++last_waiter_;
    if (slot.is_connected()) {
      slot.assign([weak = weak_from_this(), id](boost::asio::cancellation_type) {
        if (auto const self = weak.lock()) self->end_wait(id);
      });
    }
    ended = stopped_;
    (ended || book_.has_next(from) ? now : waiters_).emplace_back(id, std::move(done));
  }
  if (now.empty()) return;
  boost::asio::post(executor_, [self = shared_from_this(), ended, told = std::move(now)]() mutable {
    self->tell(std::move(told), ended ? error_code{errc::cancelled} : error_code{});
  });
}

inline void fleet_directory_core::end_wait(std::uint64_t id) {
  std::vector<waiter> ended;
  {
    std::lock_guard const lock{mutex_};
    std::vector<waiter> rest;  // erased handlers of Boost 1.81 cannot be assigned
    rest.reserve(waiters_.size());
    for (auto& one : waiters_) (one.id == id ? ended : rest).push_back(std::move(one));
    waiters_.swap(rest);
  }
  if (ended.empty()) return;
  boost::asio::post(executor_, [self = shared_from_this(), told = std::move(ended)]() mutable {
    self->tell(std::move(told), errc::cancelled);
  });
}

AGONES_ALLOC_DECL void fleet_directory_core::stop() {
  boost::asio::post(executor_, [self = shared_from_this()] {
    std::vector<waiter> told;
    {
      std::lock_guard const lock{self->mutex_};
      self->stopped_ = true;
      told.swap(self->waiters_);
    }
    self->waiting_.emit(boost::asio::cancellation_type::terminal);
    self->tell(std::move(told), errc::cancelled);
  });
}

inline void fleet_directory_core::tell(std::vector<waiter> told, error_code ec) {
  for (auto& one : told) complete(own_, std::move(one.done), ec);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
