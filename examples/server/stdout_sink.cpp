#include "stdout_sink.hpp"

#include <agones_alloc/json/cloud_event.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

class stdout_sink::writer {
 public:
  writer(boost::asio::any_io_executor executor, std::string source) : executor_{std::move(executor)}, source_{std::move(source)} {}
  ~writer() {
    {
      std::lock_guard const lock{mutex_};
      stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  void send(event_batch_ptr batch, time_point deadline, handler done) {
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    auto const cancelled = std::make_shared<std::atomic<bool>>(false);
    if (slot.is_connected()) slot.assign([cancelled](boost::asio::cancellation_type) { *cancelled = true; });
    std::lock_guard const lock{mutex_};
    // The loop has something to wait for.
    auto work = boost::asio::prefer(executor_, boost::asio::execution::outstanding_work.tracked);
    jobs_.push_back({std::move(batch), deadline, std::move(done), cancelled, std::move(work)});
    // Not before there is something to do, as children that are started before inherit nothing of it.
    if (!thread_.joinable()) thread_ = std::thread{[this] { run(); }};
    wake_.notify_all();
  }

 private:
  struct job {
    event_batch_ptr batch;
    time_point deadline;
    handler done;
    std::shared_ptr<std::atomic<bool>> cancelled;
    boost::asio::any_io_executor work;
  };

  void run() {
    std::unique_lock lock{mutex_};
    while (true) {
      wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      auto one = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      auto report = write(one);
      boost::asio::post(one.work, [h = std::move(one.done), own = boost::asio::any_completion_executor{executor_},
                                   r = std::move(report)]() mutable {
        auto const wanted = boost::asio::get_associated_executor(h, own);
        boost::asio::dispatch(wanted, boost::asio::append(std::move(h), std::move(r)));
      });
      lock.lock();
    }
  }

  auto write(job const& one) -> delivery_report {
    delivery_report out;
    if (!flush(one, out)) return out;
    for (auto const& event : one.batch->events) {
      append_cloud_event(rest_, event, source_);
      rest_ += '\n';
      // From here on the line is on its way: what is left of it goes before anything else.
      ++out.taken;
      if (!flush(one, out)) return out;
    }
    out.outcome = delivery_outcome::taken;
    return out;
  }

  /// Pieces that a pipe takes at once when it says that it has room.
  auto flush(job const& one, delivery_report& out) -> bool {
    constexpr std::size_t piece = 4096;
    while (!rest_.empty()) {
      pollfd ready{STDOUT_FILENO, POLLOUT, 0};
      auto const polled = ::poll(&ready, 1, 50);
      if (stopping_ || *one.cancelled || std::chrono::steady_clock::now() >= one.deadline) {
        out.reason = "standard output takes nothing";
        return false;
      }
      if (polled <= 0) continue;
      auto const size = ::write(STDOUT_FILENO, rest_.data(), std::min(piece, rest_.size()));
      if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (size < 0) {
        out.reason = std::strerror(errno);
        return false;
      }
      rest_.erase(0, static_cast<std::size_t>(size));
    }
    return true;
  }

  boost::asio::any_io_executor executor_;
  std::string source_;
  std::string rest_;  ///< of a line that was begun
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<job> jobs_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

stdout_sink::stdout_sink(boost::asio::any_io_executor executor, std::string source)
    : writer_{std::make_unique<writer>(std::move(executor), std::move(source))} {}
stdout_sink::~stdout_sink() = default;

void stdout_sink::do_send(event_batch_ptr batch, time_point deadline, handler done) {
  writer_->send(std::move(batch), deadline, std::move(done));
}

}  // namespace agones_alloc_server
