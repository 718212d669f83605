#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/detail/gate_core.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline void gate_core::turn() {
  std::vector<entry_ptr> news;
  std::vector<message> messages;
  {
    std::lock_guard const lock{mutex_};
    news.swap(news_);
    messages.swap(messages_);
    for (auto const& entry : news) entry->queued = false;
  }
  now_ = timer_.now();
  // What was seen first: a message may be about it.
  for (auto const& entry : news) look_at(*entry);
  for (auto const& entry : news) step(entry);
  for (auto const& one : messages) one();
  wake_due();
  arm();
  finish_turn();
}

// Callers last, when all is consistent: they may start, cancel or destroy as they like. The next turn may run meanwhile.
inline void gate_core::finish_turn() {
  if (ports_.counts != nullptr && !stopped_) {
    auto const count = pending();
    if (std::exchange(reported_, count) != count) ports_.counts->gate_pending(count);
  }
  struct rest {
    gate_core& core;
    std::vector<told> all;
    std::size_t next{0};
    ~rest() {  // a handler threw: the others are told all the same
      for (; next < all.size(); ++next) {
        boost::asio::post(core.executor_, [own = core.own_, one = std::move(all[next])]() mutable {
          complete(own, std::move(one.handler), one.ec, std::move(one.result));
        });
      }
    }
  } callers{*this, std::move(told_)};
  told_.clear();
  {
    std::lock_guard const lock{mutex_};
    scheduled_ = false;
    if (!news_.empty() || !messages_.empty()) schedule_locked();
  }
  while (callers.next < callers.all.size()) {
    auto& one = callers.all[callers.next++];
    complete(own_, std::move(one.handler), one.ec, std::move(one.result));
  }
}

inline void gate_core::look_at(gate_entry& entry) {
  bool gone = false;
  game_server_ptr latest;
  {
    std::lock_guard const lock{mutex_};
    gone = entry.erased;
    latest = entry.latest;
  }
  if (entry.over) return;
  if (gone) return entry.fsm.erased();
  if (latest == entry.seen) return;
  entry.seen = std::move(latest);
  bool const writing = entry.fsm.is_writing();
  auto const& now = *entry.seen;
  auto const reading = read_pending(now, entry.marker);
  bool const passed = reading == pending_reading::over && now.status.state == game_server_state::allocated && !has_pending(now) &&
                      find_claim(now, entry.marker.id);
  if (passed) {
    entry.fsm.observed_passed();
  } else {
    entry.fsm.observed(reading, now_);
  }
  entry.seen_first = writing && entry.fsm.finished();
}

inline void gate_core::step(entry_ptr const& entry) {
  if (entry->over || stopped_) return;
  alive_.try_emplace(entry.get(), entry);
  while (true) {
    auto const action = entry->fsm.next(now_);
    switch (action.step) {
      case gate_step::wait: return wakes_.set(*entry, action.until);
      case gate_step::probe: probe(entry); break;
      case gate_step::write: write(entry, action.verdict); break;
      case gate_step::read: read(entry); break;
      case gate_step::finished: return settle(entry, action.end);
    }
  }
}

// A store that throws may have written, unless it kept the handler to answer yet: then the answer comes twice, and counts once.
inline void gate_core::write(entry_ptr const& entry, gate_verdict verdict) {
  constexpr auto patience = std::chrono::seconds{10};
  try {
    auto desired = std::make_shared<game_server>(*entry->seen);
    auto const& marker = entry->marker;
    switch (verdict) {
      case gate_verdict::passed:
        pass_pending(*desired, marker, std::chrono::floor<std::chrono::microseconds>(timer_.wall_now()));
        break;
      case gate_verdict::tidied: entry->not_undone = fail_pending(*desired, marker, gate_policy::return_to_ready); break;
      case gate_verdict::none:
      case gate_verdict::timed_out:
      case gate_verdict::failed:
      case gate_verdict::abandoned:
        entry->not_undone = fail_pending(*desired, marker, entry->instead.value_or(marker.gate.on_timeout));
        break;
    }
    update_request request{entry->seen, std::move(desired), now_ + patience, true};
    store_.async_update(std::move(request), [self = shared_from_this(), entry](error_code ec, store_result answer) {
      self->push([core = self.get(), entry, ec, answer = std::move(answer)] { core->written(entry, ec, answer); });
    });
  } catch (std::exception const&) {
    push([this, entry] { written(entry, errc::outcome_unknown, {}); });
  }
}

inline void gate_core::written(entry_ptr const& entry, error_code ec, store_result const& answer) {
  if (stopped_) return;
  auto fate = judge_write(ec);
  if (fate == write_answer::applied && answer.server == nullptr) fate = write_answer::unknown;
  if (entry->over) {
    if (fate == write_answer::applied && entry->seen_first) record(*entry, *answer.server);
    return;
  }
  if (fate == write_answer::applied) {
    entry->by_us = true;
    entry->seen = answer.server;
    cache_.store(answer.server);
    stored(answer.server);
  } else if (ports_.log != nullptr && fate != write_answer::conflict && fate != write_answer::gone) {
    ports_.log->log(severity::warning, "a pending game server could not be written",
                    {{"server", to_string(entry->key)}, {"error", ec.message()}, {"message", answer.server_message.view()}});
  }
  entry->fsm.written(fate, now_, draw());
  step(entry);
}

inline void gate_core::read(entry_ptr const& entry) {
  try {
    store_.async_read(entry->key, [self = shared_from_this(), entry](error_code ec, store_result answer) {
      self->push([core = self.get(), entry, ec, answer = std::move(answer)] { core->have_read(entry, ec, answer); });
    });
  } catch (std::exception const&) {
    push([this, entry] { have_read(entry, errc::unavailable, {}); });
  }
}

inline void gate_core::have_read(entry_ptr const& entry, error_code ec, store_result const& answer) {
  if (stopped_ || entry->over) return;
  bool const another = answer.server != nullptr && answer.server->meta.uid != entry->seen->meta.uid;
  if (ec == condition::gone || another) {
    entry->fsm.erased();
  } else if (!ec && answer.server != nullptr) {
    cache_.store(answer.server);
    stored(answer.server);  // if it is newer than what is known
    look_at(*entry);
    entry->fsm.read_done(true, now_, draw());
  } else {
    entry->fsm.read_done(false, now_, draw());
  }
  step(entry);
}

inline void gate_core::settle(entry_ptr const& entry, gate_end end) {
  entry->over = true;
  entry->end = end;
  wakes_.remove(*entry);
  entry->leave_stream.emit(boost::asio::cancellation_type::terminal);
  gate_result result;
  result.end = end;
  result.server = entry->seen;
  result.id = entry->marker.id;
  result.took = now_ - entry->begun;
  if (entry->by_us || entry->seen_first) result.not_undone = entry->not_undone;
  auto const key = id_key(entry->key.namespace_.view(), entry->marker.id);
  {
    std::lock_guard const lock{mutex_};
    if (auto const at = entries_.find(entry->key); at != entries_.end() && at->second == entry) entries_.erase(at);
    if (auto const at = by_id_.find(key); at != by_id_.end() && at->second == entry) by_id_.erase(at);
    if (auto const at = by_token_.find(entry->marker.token); at != by_token_.end() && at->second == entry) by_token_.erase(at);
    tracked_.store(by_id_.size(), std::memory_order_release);
    if (options_.remembered != 0) {
      if (ended_.insert_or_assign(key, std::make_shared<gate_result const>(result)).second) ended_order_.push_back(key);
      if (ended_order_.size() > options_.remembered) {
        ended_.erase(ended_order_.front());
        ended_order_.pop_front();
      }
    }
  }
  report(*entry, result);
  auto waiters = std::move(entry->waiters);
  for (auto const& waiter : waiters) tell(*waiter, {}, result);
  alive_.erase(entry.get());
}

inline void gate_core::report(gate_entry const& entry, gate_result const& result) {
  if (ports_.counts != nullptr) {
    gate_sample sample;
    sample.end = to_string(result.end);
    sample.fleet = entry.seen->meta.labels.value_or_empty(keys::fleet_label);
    sample.took = result.took;
    ports_.counts->gate_ended(sample);
  }
  if (entry.by_us) record(entry, *entry.seen);
}

// By whose write it ended.
inline void gate_core::record(gate_entry const& entry, game_server const& server) {
  if (ports_.events == nullptr) return;
  auto const policy = std::string{to_string(entry.instead.value_or(entry.marker.gate.on_timeout))};
  std::string undone;
  for (auto const& line : entry.not_undone) undone += "; not undone: " + line;
  auto const warn = [&](std::string_view reason, std::string const& text) {
    ports_.events->record(server, recorder::type::warning, reason, text + undone);
  };
  switch (entry.end) {
    case gate_end::ready: return ports_.events->record(server, recorder::type::normal, "Allocated", "Allocated");
    case gate_end::timed_out: return warn("AllocationTimeout", "not ready in time: " + policy);
    case gate_end::failed: return warn("AllocationFailed", "it says that it will not be ready: " + policy);
    case gate_end::abandoned: return warn("AllocationAbandoned", "nobody waits for it any more: " + policy);
    case gate_end::gone: return;
  }
}

inline auto gate_core::entry_of(std::string const& key) const -> entry_ptr {
  std::lock_guard const lock{mutex_};
  auto const at = by_id_.find(key);
  return at == by_id_.end() ? nullptr : at->second;
}

// Replicas that did not know of each other may have made two servers pending for one id.
inline auto gate_core::entry_of(wanted_end const& wanted) const -> entry_ptr {
  if (wanted.uid.empty()) return entry_of(wanted.by_id);
  std::lock_guard const lock{mutex_};
  auto const at = entries_.find(wanted.server);
  bool const is_it = at != entries_.end() && at->second->marker.id == wanted.id && at->second->latest->meta.uid == wanted.uid;
  return is_it ? at->second : nullptr;
}

inline void gate_core::begin_wait(wanted_end const& wanted, timer::time_point deadline, bool kept,
                                  std::shared_ptr<gate_waiter> const& waiter) {
  auto const entry = stopped_ ? nullptr : entry_of(wanted);
  if (entry == nullptr || entry->over) {
    std::shared_ptr<gate_result const> end;
    {
      std::lock_guard const lock{mutex_};
      if (auto const at = ended_.find(wanted.by_id); at != ended_.end()) end = at->second;
    }
    bool const of_another = end != nullptr && !wanted.uid.empty() && (end->server == nullptr || end->server->meta.uid != wanted.uid);
    if (of_another) end = nullptr;
    if (stopped_ || end == nullptr) {
      gate_result none;
      none.known = false;
      return tell(*waiter, stopped_ ? errc::cancelled : errc::not_found, std::move(none));
    }
    return tell(*waiter, {}, *end);
  }
  entry->kept = entry->kept || kept;
  waiter->of = entry.get();
  entry->waiters.push_back(waiter);
  waiters_.emplace(waiter->number, waiter.get());
  patience_.set(*waiter, deadline);
  if (entry->seen == nullptr) look_at(*entry);
  step(entry);
}

inline void gate_core::tell(gate_waiter& waiter, error_code ec, gate_result result) {
  waiters_.erase(waiter.number);
  patience_.remove(waiter);
  told_.push_back({std::move(waiter.handler), ec, std::move(result)});
}

// Told, while the wait goes on.
inline void gate_core::part(gate_waiter& waiter, error_code ec, gate_result result) {
  auto& all = waiter.of->waiters;
  auto const at = std::find_if(all.begin(), all.end(), [&](auto const& one) { return one.get() == &waiter; });
  auto const keep = std::move(*at);
  all.erase(at);
  tell(*keep, ec, std::move(result));
}

inline void gate_core::wake_due() {
  while (auto* const due = patience_.take_due(now_)) {
    auto& waiter = static_cast<gate_waiter&>(*due);
    gate_result still;
    still.known = false;
    still.server = waiter.of->seen;
    still.id = waiter.of->marker.id;
    part(waiter, errc::deadline_exceeded, std::move(still));
  }
  while (auto* const due = wakes_.take_due(now_)) {
    auto const entry = alive_.at(static_cast<gate_entry*>(due));
    step(entry);
  }
}

// One wait for all: for the earliest wake.
inline void gate_core::arm() {
  auto const next = std::min(wakes_.next(), patience_.next());
  if (armed_now_) {
    if (armed_until_ <= next && next != timer::time_point::max()) return;
    armed_now_ = false;
    stop_waiting_.emit(boost::asio::cancellation_type::terminal);
  }
  if (next == timer::time_point::max() || stopped_) return;
  armed_now_ = true;
  armed_until_ = next;
  auto const number = ++armed_;
  timer_.async_wait_until(next, boost::asio::bind_cancellation_slot(
                                    stop_waiting_.slot(), [self = shared_from_this(), number](error_code ec) {
                                      if (ec) return;
                                      self->push([core = self.get(), number] {
                                        if (number == core->armed_) core->armed_now_ = false;
                                      });
                                    }));
}

inline void gate_core::shut() {
  if (std::exchange(stopped_, true)) return;
  std::vector<gate_waiter*> waiting;
  for (auto const& [number, waiter] : waiters_) waiting.push_back(waiter);
  for (auto* const waiter : waiting) {
    gate_result still;
    still.known = false;
    still.server = waiter->of->seen;
    still.id = waiter->of->marker.id;
    part(*waiter, errc::cancelled, std::move(still));
  }
  for (auto const& [raw, entry] : alive_) {
    wakes_.remove(*entry);
    entry->leave_stream.emit(boost::asio::cancellation_type::terminal);
  }
  tries_.clear();
  streams_.clear();
  std::lock_guard const lock{mutex_};
  entries_.clear();
  by_id_.clear();
  by_token_.clear();
  news_.clear();
  tracked_.store(0, std::memory_order_release);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
