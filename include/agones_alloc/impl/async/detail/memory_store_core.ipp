#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/detail/memory_store_core.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline auto is_terminal(boost::asio::cancellation_type type) noexcept -> bool {
  return (type & (boost::asio::cancellation_type::terminal | boost::asio::cancellation_type::total)) !=
         boost::asio::cancellation_type::none;
}

AGONES_ALLOC_DECL memory_store_core::memory_store_core(boost::asio::any_io_executor executor,
                                                       memory_store_options options)
    : executor_{std::move(executor)}, own_{executor_}, options_{options},
      table_{options.history, options.first_version} {}

AGONES_ALLOC_DECL auto memory_store_core::now() const noexcept -> timestamp {
  if (options_.clock == nullptr) return unset_time;
  return std::chrono::floor<std::chrono::seconds>(options_.clock->wall_now());
}

// A list or the events of a watch, ready for its handler.
class memory_store_core::delivery {
 public:
  virtual ~delivery() = default;
  virtual void run(boost::asio::any_completion_executor const& own) = 0;
};

template <class Handler, class Value>
class memory_store_core::delivery_of final : public delivery {
 public:
  delivery_of(Handler handler, error_code ec, Value value)
      : handler_{std::move(handler)}, ec_{ec}, value_{std::move(value)} {}
  void run(boost::asio::any_completion_executor const& own) override {
    complete(own, std::move(handler_), ec_, std::move(value_));
  }

 private:
  Handler handler_;
  error_code ec_;
  Value value_;
};

AGONES_ALLOC_DECL memory_store_core::~memory_store_core() = default;

AGONES_ALLOC_DECL void memory_store_core::set_faults(std::shared_ptr<fault_plan> plan) {
  std::lock_guard const lock{mutex_};
  faults_ = std::move(plan);
}

inline auto memory_store_core::plan(store_operation what, object_key const& key) -> store_fault {
  return faults_ ? faults_->next(what, key) : store_fault{};
}

// The desired object to keep: what came, if nobody else holds it, else a copy.
inline auto own_desired(update_request& request) -> std::shared_ptr<game_server> {
  if (request.may_take_over && request.desired.use_count() == 1) {
    return std::const_pointer_cast<game_server>(std::exchange(request.desired, nullptr));
  }
  return copy_of(*request.desired);
}

AGONES_ALLOC_DECL void memory_store_core::update(update_request request, store::handler handler) {
  {
    std::unique_lock lock{mutex_};
    if (faults_ == nullptr) {
      auto& done = answers_.emplace_back(std::move(handler));
      write(*request.base, own_desired(request), false, done);
      wake_watches(lock);
      if (lock.owns_lock()) wake(lock);
      return;
    }
  }
  auto key = key_of(request.base->meta);
  submit({store_operation::update, std::move(request), std::move(key), std::move(handler), {}});
}

// Under the lock.
inline void memory_store_core::write(game_server const& base, std::shared_ptr<game_server> desired, bool quiet,
                                     answer& out) {
  auto written = table_.update(base, std::move(desired), quiet);
  if (written) {
    out.value.server = *std::move(written);
    return;
  }
  out.ec = written.error();
  auto const conflict = out.ec == errc::conflict;
  out.value.server_code = conflict ? 409 : 404;
  out.value.server_message =
      to_string(key_of(base.meta)) + (conflict ? " was changed by another writer" : " does not exist");
}

AGONES_ALLOC_DECL void memory_store_core::read(object_key key, store::handler handler) {
  submit({store_operation::read, {}, std::move(key), std::move(handler), {}});
}

// Under the lock.
inline auto memory_store_core::execute(operation& op) -> answer {
  answer out{std::move(op.handler)};
  auto const fail = [&out](errc code, int server_code, std::string message) {
    out.ec = code;
    out.value.server_code = server_code;
    out.value.server_message = std::move(message);
  };
  switch (op.fault.what) {
    case store_fault::kind::unavailable: return fail(errc::unavailable, 503, "the store is unavailable"), std::move(out);
    case store_fault::kind::too_many_requests:
      fail(errc::too_many_requests, 429, "too many requests");
      out.value.retry_after = op.fault.retry_after;
      return out;
    case store_fault::kind::conflict:
      return fail(errc::conflict, 409, to_string(op.key) + " was changed by another writer"), std::move(out);
    case store_fault::kind::refused: return fail(errc::refused, op.fault.server_code, op.fault.server_message), std::move(out);
    case store_fault::kind::lost_before: return fail(errc::outcome_unknown, 0, "the answer was lost"), std::move(out);
    case store_fault::kind::none:
    case store_fault::kind::too_old:
    case store_fault::kind::lost_after: break;
  }
  if (op.what == store_operation::read) {
    out.value.server = table_.find(op.key);
    if (!out.value.server) fail(errc::not_found, 404, to_string(op.key) + " does not exist");
  } else {
    write(*op.write.base, own_desired(op.write), op.fault.lose_event, out);
  }
  if (op.fault.what == store_fault::kind::lost_after) {
    out.value = {};
    fail(errc::outcome_unknown, 0, "the answer was lost");
  }
  return out;
}

// An operation on its way there or back. Its slot's handler may come at any time, even after the end.
class memory_store_core::delayed_operation : public std::enable_shared_from_this<delayed_operation> {
 public:
  delayed_operation(std::shared_ptr<memory_store_core> core, operation op) : core_{std::move(core)}, op_{std::move(op)} {}

  void start() {
    auto slot = boost::asio::get_associated_cancellation_slot(op_.handler);
    if (slot.is_connected()) {
      slot.assign([weak = weak_from_this()](boost::asio::cancellation_type type) {
        if (auto const self = weak.lock(); self && is_terminal(type)) self->travel_.emit(type);
      });
    }
    auto& clock = *core_->options_.clock;
    clock.async_wait_until(clock.now() + op_.fault.before,
                           boost::asio::bind_cancellation_slot(
                               travel_.slot(), [self = shared_from_this()](error_code ec) { self->arrive(ec); }));
  }

 private:
  void arrive(error_code ec) {
    std::unique_lock lock{core_->mutex_};
    if (ec || core_->closed_) return core_->finish(lock, answer{std::move(op_.handler), errc::cancelled});
    answer_.emplace_back(core_->execute(op_));
    core_->wake_watches(lock);
    if (lock.owns_lock()) lock.unlock();
    auto& clock = *core_->options_.clock;
    clock.async_wait_until(clock.now() + op_.fault.after, [self = shared_from_this()](error_code) {
      std::unique_lock again{self->core_->mutex_};
      self->core_->finish(again, std::move(self->answer_.front()));
    });
  }

  std::shared_ptr<memory_store_core> core_;
  operation op_;
  std::vector<answer> answer_;  // none or one: erased handlers of Boost 1.81 cannot be assigned
  boost::asio::cancellation_signal travel_;
};

inline void memory_store_core::submit(operation op) {
  std::unique_lock lock{mutex_};
  op.fault = plan(op.what, op.key);
  auto const travels = op.fault.before.count() > 0 || op.fault.after.count() > 0;
  if (travels && options_.clock != nullptr) {
    lock.unlock();
    std::make_shared<delayed_operation>(shared_from_this(), std::move(op))->start();
    return;
  }
  answers_.push_back(execute(op));
  wake_watches(lock);
  if (lock.owns_lock()) wake(lock);
}

inline void memory_store_core::finish(std::unique_lock<std::mutex>& lock, answer done) {
  answers_.push_back(std::move(done));
  wake(lock);
}

AGONES_ALLOC_DECL void memory_store_core::list(server_source::list_handler handler) {
  std::unique_lock lock{mutex_};
  error_code ec;
  if (plan(store_operation::list, {}).what != store_fault::kind::none) ec = errc::unavailable;
  deliveries_.push_back(std::make_unique<delivery_of<server_source::list_handler, server_list>>(
      std::move(handler), ec, ec ? server_list{} : table_.list()));
  wake(lock);
}

AGONES_ALLOC_DECL void memory_store_core::watch(std::string from, server_source::watch_handler handler) {
  std::unique_lock lock{mutex_};
  auto const fault = plan(store_operation::watch, {});
  auto const version = version_number(from);
  error_code ec;
  if (fault.what == store_fault::kind::too_old || !version) {
    ec = errc::too_old;
  } else if (fault.what != store_fault::kind::none) {
    ec = errc::unavailable;
  } else if (watchers_.size() >= options_.watches) {
    ec = errc::too_many_requests;
  }
  auto const id = next_watcher_++;
  auto slot = boost::asio::get_associated_cancellation_slot(handler);
  if (slot.is_connected()) {
    slot.assign([weak = weak_from_this(), id](boost::asio::cancellation_type type) {
      if (auto const self = weak.lock(); self && is_terminal(type)) self->cancel_watch(id);
    });
  }
  watchers_.push_back({id, version.value_or(0), std::move(handler), ec});
  if (ec || table_.has_changes_after(watchers_.back().from)) wake(lock);
}

inline void memory_store_core::cancel_watch(std::uint64_t id) {
  std::unique_lock lock{mutex_};
  for (auto& waiter : watchers_) {
    if (waiter.id == id && !waiter.ec) {
      waiter.ec = errc::cancelled;
      return wake(lock);
    }
  }
}

AGONES_ALLOC_DECL void memory_store_core::close() {
  std::unique_lock lock{mutex_};
  closed_ = true;
  for (auto& waiter : watchers_) {
    if (!waiter.ec) waiter.ec = errc::cancelled;
  }
  if (!watchers_.empty()) wake(lock);
}

inline void memory_store_core::wake_watches(std::unique_lock<std::mutex>& lock) {
  for (auto const& waiter : watchers_) {
    if (waiter.ec || table_.has_changes_after(waiter.from)) return wake(lock);
  }
}

// Posts the delivery unless it is posted already. Leaves the lock free.
inline void memory_store_core::wake(std::unique_lock<std::mutex>& lock) {
  auto const post = !std::exchange(posted_, true);
  lock.unlock();
  if (post) boost::asio::post(executor_, [self = shared_from_this()] { self->deliver(); });
}

inline void memory_store_core::deliver() {
  // What a handler that throws leaves undone goes back, so that no other handler is lost with it.
  struct batch {
    memory_store_core& core;
    std::vector<answer> answers;
    std::vector<std::unique_ptr<delivery>> deliveries;
    std::size_t next_answer{0};
    std::size_t next_delivery{0};
    ~batch() {
      std::unique_lock lock{core.mutex_};
      if (next_answer == answers.size() && next_delivery == deliveries.size()) {
        answers.clear();
        if (core.answers_.empty()) core.answers_.swap(answers);  // for its memory
        return;
      }
      while (next_answer < answers.size()) core.answers_.push_back(std::move(answers[next_answer++]));
      while (next_delivery < deliveries.size()) core.deliveries_.push_back(std::move(deliveries[next_delivery++]));
      core.wake(lock);
    }
  } now{*this, {}, {}};
  {
    std::lock_guard const lock{mutex_};
    posted_ = false;
    collect_watches();
    now.answers.swap(answers_);
    now.deliveries.swap(deliveries_);
  }
  while (now.next_answer < now.answers.size()) {
    auto& done = now.answers[now.next_answer++];
    complete(own_, std::move(done.handler), done.ec, std::move(done.value));
  }
  while (now.next_delivery < now.deliveries.size()) now.deliveries[now.next_delivery++]->run(own_);
}

// Under the lock: turns each watch that has something to hear into a delivery.
inline void memory_store_core::collect_watches() {
  if (watchers_.empty()) return;
  std::vector<watcher> waiting;
  for (auto& waiter : watchers_) {
    if (!waiter.ec && !table_.has_changes_after(waiter.from)) {
      waiting.push_back(std::move(waiter));
      continue;
    }
    auto heard = waiter.ec ? result<server_events>{waiter.ec} : table_.changes_after(waiter.from, options_.watch_batch);
    auto const ec = heard ? error_code{} : heard.error();
    deliveries_.push_back(std::make_unique<delivery_of<server_source::watch_handler, server_events>>(
        std::move(waiter.handler), ec, heard ? *std::move(heard) : server_events{}));
  }
  watchers_.swap(waiting);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
