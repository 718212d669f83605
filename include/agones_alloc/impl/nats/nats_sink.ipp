#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/nats/detail/nats_connection.hpp>
#include <agones_alloc/nats/nats_sink.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Its thread may be held by the library for longer than anybody waits, so what it needs is its own, too.
class nats_sink::worker : public std::enable_shared_from_this<worker> {
 public:
  worker(boost::asio::any_io_executor executor, timer& time, nats_options options)
      : executor_{std::move(executor)}, timer_{time}, options_{std::move(options)} {}

  void start() {
    thread_ = std::thread{[self = shared_from_this()] { self->run(); }};
  }

  void stop() {
    std::unique_lock lock{mutex_};
    stopping_ = true;
    wake_.notify_all();
    auto const over = ended_.wait_for(lock, options_.connect_time + std::chrono::seconds{1}, [this] { return over_; });
    lock.unlock();
    over ? thread_.join() : thread_.detach();
  }

  void send(event_batch_ptr batch, time_point deadline, handler done) {
    auto const cancelled = std::make_shared<std::atomic<bool>>(false);
    if (auto slot = boost::asio::get_associated_cancellation_slot(done); slot.is_connected()) {
      slot.assign([weak = weak_from_this(), cancelled](boost::asio::cancellation_type) {
        *cancelled = true;
        if (auto const self = weak.lock()) self->give_up(cancelled);
      });
    }
    // The loop has something to wait for.
    auto work = boost::asio::prefer(executor_, boost::asio::execution::outstanding_work.tracked);
    {
      std::lock_guard const lock{mutex_};
      jobs_.push_back({std::move(batch), deadline, std::move(done), cancelled, std::move(work)});
    }
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
    {
      detail::nats_connection connection{options_, connecting_};
      while (auto const batch = next()) {
        auto const patient = [&] { return !stopping_ && !*cancelled_now_ && timer_.now() < deadline_now_; };
        delivery_report report{delivery_outcome::again, 0, {}, "cancelled"};
        if (patient()) report = connection.send(*batch, patient);
        end_job(std::move(report));
      }
    }
    std::lock_guard const lock{mutex_};
    over_ = true;
    ended_.notify_all();
  }

  /// Null: there are no more.
  auto next() -> event_batch_ptr {
    std::unique_lock lock{mutex_};
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return nullptr;
    current_.emplace(std::move(jobs_.front()));
    jobs_.pop_front();
    cancelled_now_ = current_->cancelled;
    deadline_now_ = current_->deadline;
    return current_->batch;
  }

  void end_job(delivery_report report) {
    std::optional<job> one;
    {
      std::lock_guard const lock{mutex_};
      if (!current_) return;
      one.emplace(std::move(*current_));
      current_.reset();
    }
    finish(std::move(*one), std::move(report));
  }

  /// Its thread hears of it soon, but where the library holds it.
  void give_up(std::shared_ptr<std::atomic<bool>> const& cancelled) {
    std::optional<job> one;
    {
      std::lock_guard const lock{mutex_};
      if (!connecting_) return;
      auto const queued = std::find_if(jobs_.begin(), jobs_.end(), [&](job const& known) { return known.cancelled == cancelled; });
      if (current_ && current_->cancelled == cancelled) {
        one.emplace(std::move(*current_));
        current_.reset();
      } else if (queued != jobs_.end()) {
        one.emplace(std::move(*queued));
        jobs_.erase(queued);
      } else {
        return;
      }
    }
    finish(std::move(*one), {delivery_outcome::again, 0, {}, "the NATS server does not answer"});
  }

  void finish(job one, delivery_report report) {
    auto const work = one.work;
    boost::asio::post(work, [own = boost::asio::any_completion_executor{executor_}, h = std::move(one.done),
                             r = std::move(report)]() mutable { detail::complete(own, std::move(h), std::move(r)); });
  }

  boost::asio::any_io_executor executor_;
  timer& timer_;
  nats_options options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable ended_;
  std::list<job> jobs_;
  std::optional<job> current_;  ///< what the thread works on, unless it was given up
  bool over_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> connecting_{false};
  std::shared_ptr<std::atomic<bool>> cancelled_now_;  // of the thread alone
  time_point deadline_now_{};
  std::thread thread_;
};

namespace detail {

inline void append_nats_token(std::string& out, std::string_view text) {
  out += '.';
  for (char const c : text) out += static_cast<unsigned char>(c) <= 0x20 || c == '.' || c == '*' || c == '>' || c == 0x7f ? '_' : c;
  if (text.empty()) out += '_';
}

}  // namespace detail

AGONES_ALLOC_DECL auto nats_subject(std::string_view prefix, object_event const& event) -> std::string {
  std::string out{prefix};
  detail::append_nats_token(out, to_string(event.kind()));
  detail::append_nats_token(out, to_string(event.what));
  detail::append_nats_token(out, event.meta().namespace_.view());
  return out;
}

AGONES_ALLOC_DECL nats_sink::nats_sink(boost::asio::any_io_executor executor, timer& time, nats_options options) {
  if (!executor) throw std::invalid_argument{"nats_sink: executor: must not be empty"};
  if (options.url.empty()) throw std::invalid_argument{"nats_options.url: must not be empty"};
  if (options.subject.empty()) throw std::invalid_argument{"nats_options.subject: must not be empty"};
  if (options.source.empty()) throw std::invalid_argument{"nats_options.source: must not be empty"};
  worker_ = std::make_shared<worker>(std::move(executor), time, std::move(options));
  worker_->start();
}

AGONES_ALLOC_DECL nats_sink::~nats_sink() { worker_->stop(); }

AGONES_ALLOC_DECL void nats_sink::do_send(event_batch_ptr batch, time_point deadline, handler done) {
  worker_->send(std::move(batch), deadline, std::move(done));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
