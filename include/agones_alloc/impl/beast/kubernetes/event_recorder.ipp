#pragma once

#include <agones_alloc/beast/kubernetes/api_path.hpp>
#include <agones_alloc/beast/kubernetes/event_recorder.hpp>
#include <agones_alloc/json/api_failure.hpp>
#include <agones_alloc/json/write_event.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

// The queue and the counts are under the lock, all else is confined to the strand.
class event_recorder_core : public std::enable_shared_from_this<event_recorder_core> {
 public:
  event_recorder_core(boost::asio::any_io_executor executor, http_client& client, timer& time,
                      event_recorder_options options)
      : strand_{boost::asio::make_strand(std::move(executor))}, client_{client}, timer_{time},
        options_{std::move(options)},
        retry_{options_.retry}, correlate_{options_.correlate} {}

  void record(event_note note) {
    {
      std::lock_guard const lock{mutex_};
      ++counts_.recorded;
      if (queue_.size() >= options_.queue) {
        queue_.pop_front();
        ++counts_.dropped;
      }
      note.at = timer_.wall_now();
      queue_.push_back(std::move(note));
      if (std::exchange(woken_, true)) return;
    }
    boost::asio::post(strand_, [self = shared_from_this()] { self->work(); });
  }

  auto counts() const -> event_recorder_counts {
    std::lock_guard const lock{mutex_};
    auto out = counts_;
    out.waiting = queue_.size() + in_hand_;
    return out;
  }

  void stop() {
    boost::asio::post(strand_, [self = shared_from_this()] {
      self->stopped_ = true;
      for (auto& one : self->writing_) one->stop.emit(boost::asio::cancellation_type::terminal);
      std::lock_guard const lock{self->mutex_};
      self->queue_.clear();
    });
  }

 private:
  struct job {
    kubernetes_event event;
    bool create{true};
    std::uint32_t failures{0};
    boost::asio::cancellation_signal stop;
  };
  using job_ptr = std::shared_ptr<job>;

  // On the strand, for what the recorder's end cancels.
  template <class F>
  auto bound(job& one, F f) {
    return boost::asio::bind_cancellation_slot(one.stop.slot(), boost::asio::bind_executor(strand_, std::move(f)));
  }

  void work() {
    while (!stopped_ && writing_.size() < options_.writers) {
      auto note = next();
      if (!note) return;
      auto decision = correlate_.take(*note);
      if (decision.what == event_decision::action::skip) {
        count(&event_recorder_counts::skipped);
        continue;
      }
      auto made = std::make_shared<job>();
      made->create = decision.what == event_decision::action::create;
      made->event = {std::move(decision.name), std::move(note->about), std::move(note->uid),
                     std::move(note->resource_version), note->warning, std::move(note->reason),
                     std::move(decision.message), options_.component,
                     std::chrono::floor<std::chrono::seconds>(decision.first),
                     std::chrono::floor<std::chrono::seconds>(decision.last), decision.count};
      writing_.push_back(made);
      send(made);
    }
  }

  // The next note, unless it is about an object whose Event is being written: it waits for that.
  auto next() -> std::optional<event_note> {
    std::lock_guard const lock{mutex_};
    auto const in_hand = [this](event_note const& note) {
      return std::any_of(writing_.begin(), writing_.end(),
                         [&](job_ptr const& one) { return one->event.about == note.about; });
    };
    if (queue_.empty()) woken_ = false;
    if (queue_.empty() || in_hand(queue_.front())) return std::nullopt;
    auto out = std::move(queue_.front());
    queue_.pop_front();
    in_hand_ = writing_.size() + 1;
    return out;
  }

  void send(job_ptr const& one) {
    static constexpr api_resource events{"v1", "events"};
    auto const& event = one->event;
    auto const ns = event.about.namespace_.empty() ? std::string_view{"default"} : event.about.namespace_.view();
    client_request request;
    request.method = one->create ? "POST" : "PATCH";
    request.target = one->create ? collection_path(events, ns) : object_path(events, ns, event.name);
    request.content_type = one->create ? "application/json" : "application/merge-patch+json";
    request.headers.emplace_back("Accept", "application/json");
    request.body = one->create ? to_json(event) : count_patch(event);
    request.deadline = timer_.now() + options_.time;
    auto take = [self = shared_from_this(), one](error_code ec, client_response const& answer) {
      self->answered(one, ec, answer);
    };
    client_.async_request(std::move(request), bound(*one, std::move(take)));
  }

  void answered(job_ptr const& one, error_code ec, client_response const& answer) {
    if (stopped_) return finish(one, &event_recorder_counts::failed);
    if (!ec && answer.status / 100 == 2) {
      failing_ = false;
      return finish(one, &event_recorder_counts::written);
    }
    if (!ec && answer.status == 404 && !one->create) {  // it was cleaned up meanwhile
      one->create = true;
      return send(one);
    }
    // Created by a try whose answer was lost.
    if (!ec && answer.status == 409 && one->create && one->failures > 0) {
      return finish(one, &event_recorder_counts::written);
    }
    auto const again = ec ? ec != condition::invalid_request
                          : answer.status == 401 || answer.status == 429 || answer.status >= 500;
    auto const wait = again ? retry_.wait_after(++one->failures, 0.0) : std::nullopt;
    note_failure(ec, answer);
    if (!wait) return finish(one, &event_recorder_counts::failed);
    std::chrono::nanoseconds const asked = answer.retry_after.value_or(std::chrono::seconds{0});
    auto const advice = std::min(asked, options_.retry.cap);
    auto resend = [self = shared_from_this(), one](error_code) {
      self->stopped_ ? self->finish(one, &event_recorder_counts::failed) : self->send(one);
    };
    timer_.async_wait_until(timer_.now() + std::max(*wait, advice), bound(*one, std::move(resend)));
  }

  void finish(job_ptr const& one, std::uint64_t event_recorder_counts::*how) {
    writing_.remove(one);
    {
      std::lock_guard const lock{mutex_};
      ++(counts_.*how);
      in_hand_ = writing_.size();
      woken_ = true;
    }
    work();
  }

  void count(std::uint64_t event_recorder_counts::*how) {
    std::lock_guard const lock{mutex_};
    ++(counts_.*how);
    in_hand_ = writing_.size();
  }

  void note_failure(error_code ec, client_response const& answer) {
    if (std::exchange(failing_, true) || options_.log == nullptr) return;
    auto const failure = ec ? api_failure{0, {}, ec.message(), {}, {}, {}} : api_failure_of(answer.status, answer.body);
    auto const code = std::to_string(failure.code);
    options_.log->log(severity::warning, "Events cannot be written", {{"code", code}, {"error", failure.message}});
  }

  boost::asio::strand<boost::asio::any_io_executor> strand_;
  http_client& client_;
  timer& timer_;
  event_recorder_options options_;
  backoff retry_;
  event_correlator correlate_;
  std::list<job_ptr> writing_;
  bool failing_{false};
  bool stopped_{false};

  std::mutex mutable mutex_;
  std::deque<event_note> queue_;
  event_recorder_counts counts_;
  std::size_t in_hand_{0};
  bool woken_{false};  ///< work() is on its way, or comes when a writer has ended
};

}  // namespace detail

AGONES_ALLOC_DECL event_recorder::event_recorder(boost::asio::any_io_executor executor, http_client& client,
                                                 timer& time, event_recorder_options options) {
  auto const refuse = [](char const* field, char const* what) {
    throw std::invalid_argument{std::string{"event_recorder_options."} + field + ": " + what};
  };
  check(options.retry, "event_recorder_options.retry");
  if (options.queue == 0) refuse("queue", "must be at least 1");
  if (options.writers == 0) refuse("writers", "must be at least 1");
  if (options.time <= std::chrono::nanoseconds::zero()) refuse("time", "must be positive");
  if (options.correlate.remembered == 0) refuse("correlate.remembered", "must be at least 1");
  if (options.correlate.refill <= std::chrono::nanoseconds::zero()) refuse("correlate.refill", "must be positive");
  core_ = std::make_shared<detail::event_recorder_core>(std::move(executor), client, time, std::move(options));
}

AGONES_ALLOC_DECL event_recorder::~event_recorder() { core_->stop(); }

AGONES_ALLOC_DECL void event_recorder::record(game_server const& about, type kind, std::string_view reason,
                                              std::string_view message) {
  event_note note;
  note.about = key_of(about.meta);
  note.uid = about.meta.uid;
  note.resource_version = about.meta.resource_version;
  note.warning = kind == type::warning;
  note.reason = reason;
  note.message = message;
  core_->record(std::move(note));
}

AGONES_ALLOC_DECL auto event_recorder::counts() const -> event_recorder_counts { return core_->counts(); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
