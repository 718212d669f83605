#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/reflector.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

// Confined to its strand, but for the atomics.
class reflector_core : public std::enable_shared_from_this<reflector_core> {
 public:
  using synced_handler = boost::asio::any_completion_handler<void(error_code)>;

  reflector_core(boost::asio::any_io_executor executor, server_source& source, ready_cache& cache, timer& time,
                 random_source& random, reflector_options options)
      : strand_{boost::asio::make_strand(std::move(executor))}, own_{boost::asio::any_io_executor{strand_}}, source_{source},
        cache_{cache}, timer_{time}, random_{random}, options_{std::move(options)}, retry_{options_.retry} {}

  void start() {
    boost::asio::post(strand_, [self = shared_from_this()] {
      if (!std::exchange(self->started_, true) && !self->stopped_) self->list();
    });
  }

  void stop() {
    boost::asio::post(strand_, [self = shared_from_this()] {
      if (std::exchange(self->stopped_, true)) return;
      self->pending_.emit(boost::asio::cancellation_type::terminal);
      self->tell_waiters(errc::cancelled);
    });
  }

  void wait_synced(synced_handler done) {
    auto const id = ++last_waiter_;
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    if (slot.is_connected()) {
      slot.assign([weak = weak_from_this(), id](boost::asio::cancellation_type) {
        auto const self = weak.lock();
        if (!self) return;
        boost::asio::post(self->strand_, [self, id] { self->forget_waiter(id); });
      });
    }
    boost::asio::post(strand_, [self = shared_from_this(), id, h = std::move(done)]() mutable {
      if (self->synced_ || self->stopped_) {
        complete(self->own_, std::move(h), self->synced_ ? error_code{} : error_code{errc::cancelled});
      } else {
        self->waiters_.push_back({id, std::move(h)});
      }
    });
  }

  auto synced() const noexcept -> bool { return synced_; }
  auto statistics() const noexcept -> reflector_statistics { return {lists_, events_, errors_}; }

 private:
  struct waiter {
    std::uint64_t id;
    synced_handler done;
  };

  // Brings an answer from whatever thread to the strand.
  template <class Value, class Then>
  auto back(Then then) {
    return boost::asio::bind_cancellation_slot(
        pending_.slot(), [self = shared_from_this(), then](error_code ec, Value value) {
          boost::asio::dispatch(self->strand_, [self, then, ec, v = std::move(value)]() mutable {
            if (!self->stopped_) then(*self, ec, std::move(v));
          });
        });
  }

  void list() {
    source_.async_list(back<server_list>(
        [](reflector_core& self, error_code ec, server_list listed) { self.listed(ec, std::move(listed)); }));
  }

  void listed(error_code ec, server_list all) {
    if (ec) return pause(ec, "listing game servers failed");
    if (options_.observer != nullptr) options_.observer->replaced(all.servers, all.resource_version);
    cache_.replace_all(all.servers, all.resource_version);
    version_ = std::move(all.resource_version);
    ++lists_;
    failures_ = 0;
    lost_ = false;
    synced_ = true;
    if (options_.on_list) options_.on_list(all.servers);
    if (options_.on_event) options_.on_event({server_event::kind::modified, nullptr});
    tell_waiters({});
    watch();
  }

  void watch() {
    if (stopped_) return;
    source_.async_watch(version_, back<server_events>([](reflector_core& self, error_code ec, server_events heard) {
                          self.heard(ec, std::move(heard));
                        }));
  }

  void heard(error_code ec, server_events heard) {
    if (ec == errc::too_old) {
      version_.clear();
      note(severity::info, "the watch is too old, listing again", ec);
      if (relists_in_a_row_++ == 0) return list();
      // Even a new list was too old for a watch: nothing says that the next one will do.
      return wait_after(relists_in_a_row_ - 1);
    }
    if (ec) return pause(ec, "watching game servers failed");
    if (heard.events.empty() || !heard.whole) {
      answered_ = timer_.now();
    } else {
      failures_ = 0;
      relists_in_a_row_ = 0;
    }
    for (auto& event : heard.events) take_in(event);
    if (heard.whole && std::exchange(lost_, false) && options_.observer != nullptr) options_.observer->regained();
    version_ = std::move(heard.resource_version);
    watch();
  }

  void take_in(server_event const& event) {
    if (event.server == nullptr) return;
    ++events_;
    if (options_.observer != nullptr) observe(event, *options_.observer);
    switch (event.what) {
      case server_event::kind::added:
      case server_event::kind::modified: cache_.store(event.server); break;
      case server_event::kind::deleted: cache_.erase(key_of(event.server->meta), event.server->meta.uid.view()); break;
    }
    if (options_.on_event) options_.on_event(event);
  }

  static void observe(server_event const& event, server_observer& observer) {
    switch (event.what) {
      case server_event::kind::added:
      case server_event::kind::modified: return observer.stored(event.server);
      case server_event::kind::deleted:
        return observer.erased(key_of(event.server->meta), event.server->meta.uid.view());
    }
  }

  // Goes on where it was: with a list if there is no version to watch from.
  void pause(error_code ec, char const* what) {
    ++errors_;
    note(severity::warning, what, ec);
    // A source that answers and fails at once does not work; one that stood for a while did.
    auto const answered = std::exchange(answered_, std::nullopt);
    if (answered && timer_.now() - *answered >= std::chrono::seconds{1}) failures_ = 0;
    ++failures_;
    lost_ = lost_ || failures_ > 1;
    if (lost_ && options_.observer != nullptr) options_.observer->lost(ec);
    wait_after(failures_);
  }

  void wait_after(std::uint32_t failures) {
    auto const most = std::max(options_.retry.attempts - 1, 1U);
    auto const wait = retry_.wait_after(std::min(failures, most), random_.unit()).value_or(options_.retry.cap);
    timer_.async_wait_until(timer_.now() + wait, boost::asio::bind_cancellation_slot(
                                                     pending_.slot(), [self = shared_from_this()](error_code) {
                                                       boost::asio::dispatch(self->strand_, [self] {
                                                         if (self->stopped_) return;
                                                         self->version_.empty() ? self->list() : self->watch();
                                                       });
                                                     }));
  }

  void note(severity level, char const* what, error_code ec) {
    if (options_.log != nullptr) options_.log->log(level, what, {{"error", ec.message()}});
  }

  void tell_waiters(error_code ec) {
    auto told = std::move(waiters_);
    waiters_.clear();
    for (auto& w : told) {
      boost::asio::post(strand_, [self = shared_from_this(), ec, h = std::move(w.done)]() mutable {
        complete(self->own_, std::move(h), ec);
      });
    }
  }

  void forget_waiter(std::uint64_t id) {
    std::vector<waiter> rest;  // erased handlers of Boost 1.81 cannot be assigned
    for (auto& w : waiters_) {
      if (w.id != id) {
        rest.push_back(std::move(w));
      } else {
        boost::asio::post(strand_, [self = shared_from_this(), h = std::move(w.done)]() mutable {
          complete(self->own_, std::move(h), error_code{errc::cancelled});
        });
      }
    }
    waiters_.swap(rest);
  }

  boost::asio::strand<boost::asio::any_io_executor> strand_;
  boost::asio::any_completion_executor own_;
  server_source& source_;
  ready_cache& cache_;
  timer& timer_;
  random_source& random_;
  reflector_options options_;
  backoff retry_;
  boost::asio::cancellation_signal pending_;
  std::string version_;  ///< where the next watch goes on; "": list first
  std::vector<waiter> waiters_;
  std::uint32_t failures_{0};
  std::optional<timer::time_point> answered_;  ///< when a watch last answered after a failure, without events or in part
  std::uint32_t relists_in_a_row_{0};  ///< without a watch that worked in between
  bool lost_{false};  ///< the observer was told so: not for one failure, as a watch that is cut is usually opened again at once
  bool started_{false};
  bool stopped_{false};
  std::atomic<bool> synced_{false};
  std::atomic<std::uint64_t> last_waiter_{0};
  std::atomic<std::uint64_t> lists_{0};
  std::atomic<std::uint64_t> events_{0};
  std::atomic<std::uint64_t> errors_{0};
};

}  // namespace detail

AGONES_ALLOC_DECL reflector::reflector(boost::asio::any_io_executor executor, server_source& source, ready_cache& cache,
                                       timer& time, random_source& random, reflector_options options) {
  if (!executor) throw std::invalid_argument{"reflector: executor: must not be empty"};
  check(options.retry, "reflector_options.retry");
  core_ = std::make_shared<detail::reflector_core>(std::move(executor), source, cache, time, random, std::move(options));
}

AGONES_ALLOC_DECL reflector::~reflector() { core_->stop(); }
AGONES_ALLOC_DECL void reflector::start() { core_->start(); }
AGONES_ALLOC_DECL void reflector::stop() { core_->stop(); }
AGONES_ALLOC_DECL auto reflector::synced() const noexcept -> bool { return core_->synced(); }
AGONES_ALLOC_DECL auto reflector::statistics() const noexcept -> reflector_statistics { return core_->statistics(); }
AGONES_ALLOC_DECL void reflector::wait_synced(synced_handler done) { core_->wait_synced(std::move(done)); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
