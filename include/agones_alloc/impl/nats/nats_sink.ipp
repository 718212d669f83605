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
        // Its thread hears of it soon, but where the library holds it.
        auto const self = weak.lock();
        if (self && self->connecting_) self->end(cancelled, {delivery_outcome::again, 0, {}, "the NATS server does not answer"});
      });
    }
    // The loop has something to wait for.
    auto work = boost::asio::prefer(executor_, boost::asio::execution::outstanding_work.tracked);
    {
      std::lock_guard const lock{mutex_};
      jobs_.push_back({{std::move(batch), deadline, cancelled}, std::move(done), std::move(work)});
    }
    wake_.notify_all();
  }

 private:
  using cancellation = std::shared_ptr<std::atomic<bool>>;
  struct task {
    event_batch_ptr batch;
    time_point deadline;
    cancellation cancelled;  ///< its name, too
  };
  struct job {
    task what;
    handler done;
    boost::asio::any_io_executor work;
  };

  void run() {
    {
      detail::nats_connection connection{options_, connecting_};
      while (auto const one = next()) {
        auto const patient = [&] { return !stopping_ && !*one->cancelled && timer_.now() < one->deadline; };
        delivery_report report{delivery_outcome::again, 0, {}, "cancelled"};
        if (patient()) report = connection.send(*one->batch, patient);
        end(one->cancelled, std::move(report));
      }
    }
    std::lock_guard const lock{mutex_};
    over_ = true;
    ended_.notify_all();
  }

  /// The first that has not ended; nullopt: there are no more.
  auto next() -> std::optional<task> {
    std::unique_lock lock{mutex_};
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return std::nullopt;
    return jobs_.front().what;
  }

  /// Once: whoever comes second finds it gone.
  void end(cancellation const& name, delivery_report report) {
    std::optional<job> one;
    {
      std::lock_guard const lock{mutex_};
      auto const at = std::find_if(jobs_.begin(), jobs_.end(), [&](job const& known) { return known.what.cancelled == name; });
      if (at == jobs_.end()) return;
      one.emplace(std::move(*at));
      jobs_.erase(at);
    }
    finish(std::move(*one), std::move(report));
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
  std::list<job> jobs_;  ///< the thread works on the first
  bool over_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> connecting_{false};
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
