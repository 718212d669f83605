#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/event_publisher.hpp>
#include <agones_alloc/cache/freshness.hpp>
#include <agones_alloc/flow/event_tracker.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

// Tracker and queues are under the lock, the rest of a channel is confined to the strand.
class event_publisher_core : public std::enable_shared_from_this<event_publisher_core> {
 public:
  using drained_handler = boost::asio::any_completion_handler<void(std::size_t)>;

  event_publisher_core(boost::asio::any_io_executor executor, timer& time, random_source& random, logger* log)
      : strand_{boost::asio::make_strand(std::move(executor))}, own_{boost::asio::any_io_executor{strand_}}, timer_{time},
        random_{random}, log_{log} {}

  void add(std::shared_ptr<event_sink> sink, event_channel_options options) {
    std::lock_guard const lock{mutex_};
    channels_.push_back(std::make_unique<channel>(std::move(sink), std::move(options)));
  }
  auto has(std::string_view name) const -> bool {
    return std::any_of(channels_.begin(), channels_.end(), [name](auto const& c) { return c->options.name == name; });
  }

  /// `tell(tracker, now, out)` appends the events of a change.
  template <class Tell>
  void change(Tell tell) {
    {
      std::lock_guard const lock{mutex_};
      if (closed_) return;
      tell(tracker_, timer_.wall_now(), found_);
      auto const wanted = offer();
      found_.clear();  // lets go of the objects
      if (found_.capacity() > 1024) found_ = {};
      if (!wanted || std::exchange(woken_, true)) return;
    }
    boost::asio::post(strand_, [self = shared_from_this()] { self->work(); });
  }

  auto wants_fleets() const -> bool {
    return std::any_of(channels_.begin(), channels_.end(),
                       [](auto const& c) { return wants_any_of(c->options.filter, object_kind::fleet); });
  }

  auto counts() const -> std::vector<event_channel_counts> {
    std::vector<event_channel_counts> out;
    std::lock_guard const lock{mutex_};
    for (auto const& c : channels_) out.push_back({c->options.name, c->delivery.counts()});
    return out;
  }

  auto told() const -> std::vector<game_server_ptr> {
    // By object, the first event that has not ended. The deleted ones among them are known to nobody else.
    boost::unordered_flat_map<object_identity, object_event, object_identity_hash> untold;
    std::vector<game_server_ptr> known;
    {
      std::lock_guard const lock{mutex_};
      known = tracker_.known();
      for (auto const& c : channels_) {
        c->delivery.visit([&untold](object_event const& event) {
          if (!event.server) return;
          auto const [at, fresh] = untold.emplace(identity_of(event), event);
          // Another sink may have to be told of an earlier one.
          if (!fresh && is_newer_version(at->second.revision, event.revision)) at->second = event;
        });
      }
    }
    std::erase_if(known, [&untold](game_server_ptr const& one) {
      object_event probe;
      probe.server = one;
      return untold.contains(identity_of(probe));
    });
    for (auto const& [about, event] : untold) {
      if (!event.before) continue;
      auto was = std::make_shared<game_server>(*event.server);
      was->meta.resource_version = {};
      // So that it is told to have been allocated.
      if (event.what == object_change::allocated) was->meta.annotations.erase(keys::last_allocated_annotation);
      was->status.state = *event.before;
      known.push_back(std::move(was));
    }
    return known;
  }

  void recall(std::span<game_server_ptr const> earlier) {
    std::lock_guard const lock{mutex_};
    tracker_.recall(earlier);
  }

  void drain(timer::time_point deadline, drained_handler done) {
    {
      std::lock_guard const lock{mutex_};
      closed_ = true;
      for (auto const& c : channels_) c->delivery.hurry();
    }
    boost::asio::post(strand_, [self = shared_from_this(), deadline, h = std::move(done)]() mutable {
      self->drained_.emplace(std::move(h));
      if (self->stopped_) return self->tell_end();
      for (auto const& c : self->channels_) self->pump(*c);
      if (self->told_drained()) return;
      self->timer_.async_wait_until(deadline, boost::asio::bind_cancellation_slot(
                                                  self->patience_.slot(), boost::asio::bind_executor(self->strand_, [self](error_code) {
                                                    self->tell_drained();
                                                  })));
    });
  }

  void stop() {
    {
      std::lock_guard const lock{mutex_};
      closed_ = true;
    }
    boost::asio::post(strand_, [self = shared_from_this()] { self->end(); });
  }

 private:
  struct sending {
    boost::asio::cancellation_signal stop;
  };
  struct channel {
    channel(std::shared_ptr<event_sink> to, event_channel_options o)
        : sink{std::move(to)}, options{std::move(o)}, delivery{options.delivery} {}
    std::shared_ptr<event_sink> sink;
    event_channel_options options;
    event_delivery delivery;  ///< under the lock
    std::list<sending> out;
    std::optional<timer::time_point> armed;
    std::shared_ptr<boost::asio::cancellation_signal> alarm;
    bool failing{false};
  };

  /// True when somebody wants one of the events.
  auto offer() -> bool {
    bool any = false;
    auto const now = timer_.now();
    for (auto const& event : found_) {
      for (auto const& c : channels_) {
        if (!wants(c->options.filter, event)) continue;
        c->delivery.offer(event, now);
        any = true;
      }
    }
    return any;
  }

  void work() {
    {
      std::lock_guard const lock{mutex_};
      woken_ = false;
    }
    for (auto const& c : channels_) pump(*c);
  }

  void pump(channel& c) {
    while (!stopped_) {
      std::optional<event_delivery::outgoing> next;
      {
        std::lock_guard const lock{mutex_};
        next = c.delivery.next(timer_.now());
      }
      if (!next) break;
      send(c, *std::move(next));
    }
    arm(c);
  }

  void send(channel& c, event_delivery::outgoing next) {
    c.out.emplace_back();
    auto const at = std::prev(c.out.end());
    auto then = [self = shared_from_this(), &c, at, id = next.id](delivery_report report) {
      self->finished(c, at, id, std::move(report));
    };
    c.sink->async_send(std::move(next.batch), timer_.now() + c.options.time,
                       boost::asio::bind_cancellation_slot(at->stop.slot(), boost::asio::bind_executor(strand_, std::move(then))));
  }

  void finished(channel& c, std::list<sending>::iterator at, std::uint64_t id, delivery_report report) {
    c.out.erase(at);
    if (stopped_) return tell_end();
    auto const outcome = [&report] {
      switch (report.outcome) {
        case delivery_outcome::taken: return event_delivery::outcome::taken;
        case delivery_outcome::again: return event_delivery::outcome::again;
        case delivery_outcome::refused: return event_delivery::outcome::refused;
        case delivery_outcome::too_large: break;
      }
      return event_delivery::outcome::too_large;
    }();
    note(c, report);
    {
      std::lock_guard const lock{mutex_};
      c.delivery.finished(id, outcome, report.taken, report.retry_after, timer_.now(), random_.unit());
    }
    pump(c);
    told_drained();
  }

  void note(channel& c, delivery_report const& report) {
    auto const bad = report.outcome == delivery_outcome::again || report.outcome == delivery_outcome::refused;
    if (std::exchange(c.failing, bad) == bad || log_ == nullptr) return;
    if (!bad) return log_->log(severity::info, "events arrive again", {{"sink", c.options.name}});
    log_->log(severity::warning,
              report.outcome == delivery_outcome::again ? "events do not arrive, trying again" : "events are refused and dropped",
              {{"sink", c.options.name}, {"reason", report.reason}});
  }

  void arm(channel& c) {
    if (stopped_) return;
    auto when = timer::time_point::max();
    {
      std::lock_guard const lock{mutex_};
      when = c.delivery.wake();
    }
    if (when == timer::time_point::max() || (c.armed && *c.armed <= when)) return;
    disarm(c);
    c.armed = when;
    c.alarm = std::make_shared<boost::asio::cancellation_signal>();
    auto then = [self = shared_from_this(), &c, alarm = c.alarm](error_code) {
      if (c.alarm != alarm) return;
      c.armed.reset();
      c.alarm.reset();
      self->pump(c);
    };
    timer_.async_wait_until(
        when, boost::asio::bind_cancellation_slot(c.alarm->slot(), boost::asio::bind_executor(strand_, std::move(then))));
  }

  static void disarm(channel& c) {
    c.armed.reset();
    if (auto const alarm = std::exchange(c.alarm, nullptr)) alarm->emit(boost::asio::cancellation_type::terminal);
  }

  /// True when there is nobody to be told any more.
  auto told_drained() -> bool {
    if (!drained_) return false;
    {
      std::lock_guard const lock{mutex_};
      for (auto const& c : channels_) {
        if (!c->delivery.idle()) return false;
      }
    }
    tell_drained();
    return true;
  }

  void tell_drained() {
    if (!drained_ || stopped_) return;
    for (auto const& c : counts()) left_ += c.of.waiting + c.of.in_flight;
    end();
  }

  void end() {
    if (std::exchange(stopped_, true)) return;
    patience_.emit(boost::asio::cancellation_type::terminal);
    for (auto const& c : channels_) {
      disarm(*c);
      // A sink may complete on the strand at once, and take its entry with it.
      for (auto at = c->out.begin(); at != c->out.end();) (at++)->stop.emit(boost::asio::cancellation_type::terminal);
    }
    tell_end();
  }

  // Not before every sink has let go: who drains may then let go of what the sinks stand on.
  void tell_end() {
    if (!drained_ || std::any_of(channels_.begin(), channels_.end(), [](auto const& c) { return !c->out.empty(); })) return;
    auto done = std::move(*drained_);
    drained_.reset();
    complete(own_, std::move(done), left_);
  }

  boost::asio::strand<boost::asio::any_io_executor> strand_;
  boost::asio::any_completion_executor own_;
  timer& timer_;
  random_source& random_;
  logger* log_;
  std::vector<std::unique_ptr<channel>> channels_;
  boost::asio::cancellation_signal patience_;
  std::optional<drained_handler> drained_;
  std::size_t left_{0};  ///< when draining ended
  bool stopped_{false};

  std::mutex mutable mutex_;
  event_tracker tracker_;
  std::vector<object_event> found_;
  bool woken_{false};
  bool closed_{false};
};

inline void check_channel(event_channel_options const& options) {
  auto const refuse = [&options](char const* field, char const* what) {
    throw std::invalid_argument{"event_channel_options of \"" + options.name + "\"." + field + ": " + what};
  };
  auto const& delivery = options.delivery;
  check(delivery.retry, "event_channel_options.delivery.retry");
  if (delivery.queue.events == 0) refuse("delivery.queue.events", "must be at least 1");
  if (delivery.queue.bytes == 0) refuse("delivery.queue.bytes", "must be at least 1");
  if (delivery.batch == 0) refuse("delivery.batch", "must be at least 1");
  if (delivery.in_flight == 0) refuse("delivery.in_flight", "must be at least 1");
  if (delivery.linger.count() < 0) refuse("delivery.linger", "must not be negative");
  if (options.time.count() <= 0) refuse("time", "must be positive");
}

}  // namespace detail

AGONES_ALLOC_DECL event_publisher::event_publisher(boost::asio::any_io_executor executor, timer& time, random_source& random,
                                                   logger* log) {
  if (!executor) throw std::invalid_argument{"event_publisher: executor: must not be empty"};
  core_ = std::make_shared<detail::event_publisher_core>(std::move(executor), time, random, log);
}

AGONES_ALLOC_DECL event_publisher::~event_publisher() { core_->stop(); }

AGONES_ALLOC_DECL void event_publisher::add(std::shared_ptr<event_sink> sink, event_channel_options options) {
  if (sink == nullptr) throw std::invalid_argument{"event_publisher: sink: must not be null"};
  if (core_->has(options.name)) throw std::invalid_argument{"event_publisher: name: \"" + options.name + "\" is used twice"};
  detail::check_channel(options);
  core_->add(std::move(sink), std::move(options));
}

AGONES_ALLOC_DECL void event_publisher::stored(game_server_ptr const& server) {
  core_->change([&](event_tracker& known, auto now, auto& out) { known.stored(server, now, out); });
}

AGONES_ALLOC_DECL void event_publisher::erased(object_key const& key, std::string_view uid, game_server_ptr const& last) {
  core_->change([&](event_tracker& known, auto now, auto& out) { known.erased(key, uid, last, now, out); });
}

AGONES_ALLOC_DECL void event_publisher::replaced(std::span<game_server_ptr const> all) {
  core_->change([&](event_tracker& known, auto now, auto& out) { known.replaced(all, now, out); });
}

AGONES_ALLOC_DECL void event_publisher::heard(server_event const& event) {
  if (event.server == nullptr) return;
  switch (event.what) {
    case server_event::kind::added:
    case server_event::kind::modified: return stored(event.server);
    case server_event::kind::deleted: return erased(key_of(event.server->meta), event.server->meta.uid, event.server);
  }
}

AGONES_ALLOC_DECL void event_publisher::fleets(std::span<fleet const> all) {
  core_->change([&](event_tracker& known, auto now, auto& out) { known.fleets(all, now, out); });
}

AGONES_ALLOC_DECL auto event_publisher::wants_fleets() const -> bool { return core_->wants_fleets(); }
AGONES_ALLOC_DECL auto event_publisher::counts() const -> std::vector<event_channel_counts> { return core_->counts(); }
AGONES_ALLOC_DECL auto event_publisher::told() const -> std::vector<game_server_ptr> { return core_->told(); }
AGONES_ALLOC_DECL void event_publisher::recall(std::span<game_server_ptr const> earlier) { core_->recall(earlier); }
AGONES_ALLOC_DECL void event_publisher::drain(timer::time_point deadline, drained_handler done) {
  core_->drain(deadline, std::move(done));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
