#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/embedded/detail/embedded_cluster_core.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// The signal's last use: what it is bound to keeps it alive.
inline void cancel(std::shared_ptr<boost::asio::cancellation_signal>& signal) {
  if (auto const last = std::exchange(signal, nullptr)) last->emit(boost::asio::cancellation_type::terminal);
}

AGONES_ALLOC_DECL embedded_cluster_core::embedded_cluster_core(boost::asio::any_io_executor executor,
                                                               memory_store& store, timer& clock,
                                                               embedded_cluster_options const& options)
    : strand_{boost::asio::make_strand(std::move(executor))},
      store_{store},
      timer_{clock},
      batch_{options.batch},
      log_{options.log},
      simulator_{options.simulator} {}

AGONES_ALLOC_DECL void embedded_cluster_core::run(embedded_cluster::handler h) {
  // Assigned here: a cancellation may come before the strand gets to the start.
  if (auto slot = boost::asio::get_associated_cancellation_slot(h); slot.is_connected()) {
    slot.assign([weak = weak_from_this()](boost::asio::cancellation_type) {
      if (auto self = weak.lock()) self->stop();
    });
  }
  boost::asio::post(strand_,
                    [self = shared_from_this(), kept = std::move(h)]() mutable { self->start(std::move(kept)); });
}

AGONES_ALLOC_DECL void embedded_cluster_core::start(embedded_cluster::handler h) {
  if (handler_)
    return complete(boost::asio::any_completion_executor{strand_}, std::move(h), error_code{errc::invalid_request});
  handler_.emplace(std::move(h));
  ++run_;
  list();
  step();
}

AGONES_ALLOC_DECL void embedded_cluster_core::stop() {
  boost::asio::post(strand_, [self = shared_from_this()] { self->end(); });
}

AGONES_ALLOC_DECL void embedded_cluster_core::end() {
  if (!handler_) return;
  auto h = std::move(*handler_);
  handler_.reset();
  armed_.reset();
  cancel(cancel_wait_);
  cancel(cancel_watch_);
  complete(boost::asio::any_completion_executor{strand_}, std::move(h), error_code{errc::cancelled});
}

AGONES_ALLOC_DECL void embedded_cluster_core::wake() {
  boost::asio::post(strand_, [self = shared_from_this()] {
    if (self->handler_) self->post_step();
  });
}

AGONES_ALLOC_DECL void embedded_cluster_core::post_step() {
  if (std::exchange(step_posted_, true)) return;
  boost::asio::post(strand_, [self = shared_from_this()] {
    self->step_posted_ = false;
    if (self->handler_) self->step();
  });
}

/// One batch of writes, then another turn, or the timer.
AGONES_ALLOC_DECL void embedded_cluster_core::step() {
  auto const t = instant();
  std::optional<timer::time_point> next;
  std::vector<fleet_shortage> shortages;
  {
    std::scoped_lock const lock{mutex_};
    for (std::size_t i = 0; i < batch_; ++i) {
      auto const action = simulator_.next_action(t);
      if (!action) break;
      auto const outcome = perform(*action);
      simulator_.done(*action, outcome, t);
      if (outcome || outcome.error() != condition::conflict || !action->base) continue;
      // The other writer's event is on its way; its object is here already.
      if (auto current = store_.find(key_of(action->base->meta))) {
        simulator_.observe({server_event::kind::modified, std::move(current)}, t);
      }
    }
    next = simulator_.next_time();
    while (auto shortage = simulator_.next_shortage()) shortages.push_back(*std::move(shortage));
  }
  for (auto const& shortage : shortages) tell(shortage);
  if (!next) return;
  if (*next <= t.now) return post_step();
  arm(*next);
}

AGONES_ALLOC_DECL void embedded_cluster_core::tell(fleet_shortage const& shortage) const {
  if (log_ == nullptr) return;
  log_->log(severity::warning, "no room for all game servers of a fleet",
            {{"fleet", to_string(shortage.fleet)},
             {"replicas", std::to_string(shortage.wanted)},
             {"present", std::to_string(shortage.present)},
             {"reason", shortage.reason}});
}

AGONES_ALLOC_DECL auto embedded_cluster_core::perform(simulator_action const& action) -> result<game_server_ptr> {
  switch (action.what) {
    case simulator_action::kind::create:
      return store_.create(*action.desired);
    case simulator_action::kind::update:
      return store_.update(*action.base, *action.desired);
    case simulator_action::kind::remove:
      break;
  }
  return store_.remove(key_of(action.base->meta), action.base->meta.uid);
}

AGONES_ALLOC_DECL void embedded_cluster_core::arm(timer::time_point when) {
  if (armed_ && *armed_ <= when) return;  // comes early enough, and then looks again
  cancel(cancel_wait_);
  cancel_wait_ = std::make_shared<boost::asio::cancellation_signal>();
  armed_ = when;
  // A cancelled wait was replaced, or its run is over.
  auto then = [self = shared_from_this(), signal = cancel_wait_, run = run_](error_code) {
    if (!self->handler_ || self->run_ != run || self->cancel_wait_ != signal) return;
    self->armed_.reset();
    self->step();
  };
  timer_.async_wait_until(when, boost::asio::bind_cancellation_slot(
                                    cancel_wait_->slot(), boost::asio::bind_executor(strand_, std::move(then))));
}

/// Everything as it is now; the watch goes on from there.
AGONES_ALLOC_DECL void embedded_cluster_core::list() {
  auto all = store_.list();
  {
    std::scoped_lock const lock{mutex_};
    simulator_.observe_all(all.servers, instant());
  }
  version_ = std::move(all.resource_version);
  watch();
}

AGONES_ALLOC_DECL void embedded_cluster_core::watch() {
  cancel_watch_ = std::make_shared<boost::asio::cancellation_signal>();
  auto then = [self = shared_from_this(), signal = cancel_watch_, run = run_](error_code error, server_events seen) {
    if (self->handler_ && self->run_ == run) self->watched(error, std::move(seen));
  };
  store_.async_watch(version_, boost::asio::bind_cancellation_slot(
                                   cancel_watch_->slot(), boost::asio::bind_executor(strand_, std::move(then))));
}

AGONES_ALLOC_DECL void embedded_cluster_core::watched(error_code error, server_events seen) {
  if (error == condition::cancelled) return end();  // nobody here cancelled it: the store is gone
  if (error == errc::too_old) {
    list();
  } else if (error) {
    list_later();
  } else {
    auto const t = instant();
    {
      std::scoped_lock const lock{mutex_};
      for (auto const& event : seen.events) simulator_.observe(event, t);
    }
    version_ = std::move(seen.resource_version);
    watch();
  }
  post_step();
}

AGONES_ALLOC_DECL void embedded_cluster_core::list_later() {
  cancel_watch_ = std::make_shared<boost::asio::cancellation_signal>();
  auto then = [self = shared_from_this(), signal = cancel_watch_, run = run_](error_code error) {
    if (self->handler_ && self->run_ == run && !error) self->list();
  };
  timer_.async_wait_until(
      timer_.now() + simulator_retry,
      boost::asio::bind_cancellation_slot(cancel_watch_->slot(), boost::asio::bind_executor(strand_, std::move(then))));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
