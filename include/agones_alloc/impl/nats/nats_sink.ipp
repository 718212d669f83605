#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/nats/detail/nats_connection.hpp>
#include <agones_alloc/nats/nats_sink.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

class nats_sink::worker {
 public:
  worker(boost::asio::any_io_executor executor, timer& time, nats_options options)
      : executor_{std::move(executor)}, timer_{time}, options_{std::move(options)}, thread_{[this] { run(); }} {}
  ~worker() {
    {
      std::lock_guard const lock{mutex_};
      stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

  void send(event_batch_ptr batch, time_point deadline, handler done) {
    auto const cancelled = std::make_shared<std::atomic<bool>>(false);
    if (auto slot = boost::asio::get_associated_cancellation_slot(done); slot.is_connected()) {
      slot.assign([cancelled](boost::asio::cancellation_type) { *cancelled = true; });
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
    detail::nats_connection connection{options_};
    std::unique_lock lock{mutex_};
    while (true) {
      wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      auto one = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      auto const patient = [&] { return !stopping_ && !*one.cancelled && timer_.now() < one.deadline; };
      delivery_report report{delivery_outcome::again, 0, {}, "cancelled"};
      if (patient()) report = connection.send(*one.batch, patient);
      finish(std::move(one), std::move(report));
      lock.lock();
    }
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
  std::deque<job> jobs_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;  ///< the last one: it uses the rest
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
  worker_ = std::make_unique<worker>(std::move(executor), time, std::move(options));
}

AGONES_ALLOC_DECL nats_sink::~nats_sink() = default;

AGONES_ALLOC_DECL void nats_sink::do_send(event_batch_ptr batch, time_point deadline, handler done) {
  worker_->send(std::move(batch), deadline, std::move(done));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
