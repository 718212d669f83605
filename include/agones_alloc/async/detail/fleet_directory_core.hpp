// The fleet book under a lock, published by time, and who waits for news of it.
#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/cache/fleet_book.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Nothing is called under the lock but the book, and posting.
class fleet_directory_core : public std::enable_shared_from_this<fleet_directory_core> {
 public:
  using handler = boost::asio::any_completion_handler<void(error_code)>;

  AGONES_ALLOC_DECL fleet_directory_core(boost::asio::any_io_executor, timer&, fleet_book_options,
                                         std::chrono::nanoseconds gather, std::string instance);

  /// A server that changed: put down, and stored with those that come after it, at the latest when somebody looks.
  AGONES_ALLOC_DECL void store(game_server_ptr const&);
  /// Changes the book: f(book).
  template <class F>
  auto change(F f) {
    struct then_publish {
      fleet_directory_core& core;
      ~then_publish() { core.want_publication(); }
    };
    std::lock_guard const lock{mutex_};
    store_gathered();
    then_publish const last{*this};
    return f(book_);
  }
  /// Looks at it: f(book, wall time).
  template <class F>
  auto look(F f) {
    auto const wall = timer_.wall_now();
    std::lock_guard const lock{mutex_};
    store_gathered();
    return f(std::as_const(book_), wall);
  }
  // Of the local cluster; under the lock.
  AGONES_ALLOC_DECL void heard();  ///< a complete list came, or the watch goes on after one
  AGONES_ALLOC_DECL void lost(error_code);
  AGONES_ALLOC_DECL void wait(fleet_cursor const&, handler);
  AGONES_ALLOC_DECL void stop();
  AGONES_ALLOC_DECL void count_watch(int by);

  auto instance() const noexcept -> std::string const& { return instance_; }
  auto watches() const noexcept -> std::size_t { return static_cast<std::size_t>(watches_); }
  auto publications() const noexcept -> std::uint64_t { return publications_; }
  auto cluster() const noexcept -> std::string const& { return book_.options().cluster; }
  auto wall_now() const noexcept -> timer::wall_time { return timer_.wall_now(); }

 private:
  struct waiter {
    waiter(std::uint64_t i, handler h) : id{i}, done{std::move(h)} {}
    std::uint64_t id;
    handler done;
  };

  AGONES_ALLOC_DECL void store_gathered();
  AGONES_ALLOC_DECL void want_publication();
  void publish();
  void publish_at(timer::time_point);
  void end_wait(std::uint64_t id);
  void tell(std::vector<waiter>, error_code);

  boost::asio::any_io_executor executor_;
  boost::asio::any_completion_executor own_;
  timer& timer_;
  std::chrono::nanoseconds gather_;
  std::string instance_;

  mutable std::mutex mutex_;
  fleet_book book_;
  std::vector<game_server_ptr> gathered_;  ///< come after all that the book knows
  std::vector<waiter> waiters_;
  std::uint64_t last_waiter_{0};
  std::int64_t watches_{0};
  std::uint64_t publications_{0};
  bool wanted_{false};   ///< a publication is posted, or waits for its time
  bool stopped_{false};
  bool synced_{false};   ///< the local cluster was listed once
  timer::time_point next_{timer::time_point::min()};  ///< not before
  // Of the executor alone.
  timer::time_point armed_{timer::time_point::max()};
  boost::asio::cancellation_signal waiting_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/detail/fleet_directory_core.ipp>
#endif
