#pragma once

#include <agones_alloc/beast/client/client_pool.hpp>
#include <agones_alloc/beast/client/request_wire.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

AGONES_ALLOC_DECL client_pool::client_pool(boost::asio::any_io_executor executor, client_endpoint endpoint,
                                           std::shared_ptr<credentials_provider> provider, timer& time,
                                           client_options options, logger* log)
    : executor_{std::move(executor)},
      provider_{std::move(provider)},
      log_{log},
      bucket_{options.rate},
      alarm_{time, executor_} {
  lanes_[0].most = options.limits.connections;
  lanes_[1].most = options.limits.streams;
  settings_ = std::make_shared<connection_settings const>(
      connection_settings{std::move(endpoint), std::move(options), &time});
}

AGONES_ALLOC_DECL void client_pool::start(std::shared_ptr<client_call> call) {
  auto const& options = settings_->options;
  if (shut_) return call->give_up(errc::cancelled);
  auto const& request = call->request;
  if (!can_be_written(request) || request.body.size() > options.limits.request_bytes) {
    return call->give_up(errc::invalid_request);
  }
  if (request.deadline) call->deadline = *request.deadline;
  if (call->deadline <= settings_->time->now()) return call->give_up(errc::deadline_exceeded);
  auto const& lane = lane_of(*call);
  if (lane.waiting.size() >= options.limits.queue + lane.most - lane.active) {
    return call->give_up(errc::too_many_requests);
  }
  call->head_only = request.method == "HEAD";
  call->silence = request.silence.count() > 0 ? request.silence : options.times.silence;
  if (!call->streamed) call->body_bytes = request.body_limit != 0 ? request.body_limit : options.limits.body_bytes;
  call->number = ++call_number_;
  enqueue(std::move(call), false);
  pump();
}

AGONES_ALLOC_DECL void client_pool::enqueue(std::shared_ptr<client_call> call, bool first) {
  auto& queue = lane_of(*call).waiting;
  auto* const raw = call.get();
  raw->where = client_call::stage::waiting;
  raw->place = queue.insert(first ? queue.begin() : queue.end(), std::move(call));
  times_.set(*raw, std::min(raw->deadline, settings_->time->now() + settings_->options.times.queue));
}

AGONES_ALLOC_DECL void client_pool::again(std::shared_ptr<client_call> call) {
  if (shut_) return call->give_up(errc::cancelled);
  call->repeated = true;
  ++counts_.repeated;
  // What ended one kept connection has most likely ended them all.
  close_resting(true);
  enqueue(std::move(call), true);
  pump();
}

AGONES_ALLOC_DECL void client_pool::forget(client_call& call) {
  times_.remove(call);
  if (call.where == client_call::stage::waiting) lane_of(call).waiting.erase(call.place);
  if (call.where == client_call::stage::refused) {
    std::erase_if(refused_, [&call](auto const& one) { return one.get() == &call; });
  }
}

AGONES_ALLOC_DECL void client_pool::ended(client_call& call) {
  if (active_.erase(&call) != 0) --lane_of(call).active;
}

// Everything that may let a waiting call go ends up here.
AGONES_ALLOC_DECL void client_pool::pump(credentials_ptr fetched) {
  if (pumping_ || shut_) return;
  pumping_ = true;
  times_.remove(rate_time_);
  for (auto& lane : lanes_) {
    while (lane.wanted() != 0) {
      auto const credentials = fetched ? fetched : provider_->current();
      if (!credentials) {
        fetch({});
        break;
      }
      if (!adopt(credentials)) {
        fail_waiting(errc::unavailable);
        break;
      }
      if (!serve_one(lane, credentials)) break;
    }
  }
  pumping_ = false;
  if (!fetching_) dial();
  set_alarm();
}

// The next of the lane, on a resting connection, if there is one and the rate allows.
AGONES_ALLOC_DECL auto client_pool::serve_one(call_lane& l, credentials_ptr const& credentials) -> bool {
  auto const now = settings_->time->now();
  if (auto const at = bucket_.ready_at(now); at > now) {
    times_.set(rate_time_, at);
    return false;
  }
  auto connection = take_resting();
  if (!connection) return false;
  bucket_.take(now);
  auto const call = l.waiting.front();
  forget(*call);
  ++l.active;
  ++counts_.sent;
  active_.emplace(call.get(), call);
  call->send(std::move(connection), credentials,
             write_request(call->request, settings_->endpoint, settings_->options.user_agent,
                           credentials->authorization));
  return true;
}

AGONES_ALLOC_DECL auto client_pool::take_resting() -> std::shared_ptr<client_connection> {
  while (!resting_.empty()) {
    auto out = connections_.at(resting_.back());
    resting_.pop_back();
    if (out->context() == context_ && !out->is_stale()) return out;
    connections_.erase(out.get());
    out->close();
  }
  return nullptr;
}

// Connections for those who wait, as far as the bounds go.
AGONES_ALLOC_DECL void client_pool::dial() {
  auto const wanted = lanes_[0].wanted() + lanes_[1].wanted();
  while (!shut_ && adopted_ && wanted > dialing_ + resting_.size()) {
    auto const made = std::make_shared<client_connection>(executor_, shared_from_this(), settings_, context_);
    connections_.emplace(made.get(), made);
    ++dialing_;
    made->open();
  }
}

// For those who wait, once the caller is done with what it holds.
AGONES_ALLOC_DECL void client_pool::pump_soon() {
  if (lanes_[0].waiting.empty() && lanes_[1].waiting.empty()) return;
  boost::asio::post(executor_, [self = shared_from_this()] { self->pump(); });
}

AGONES_ALLOC_DECL void client_pool::opened(client_connection& connection) {
  --dialing_;
  ++counts_.opened;
  if (connection.resumed()) ++counts_.resumed;
  told_.clear();
  released(connection);
}

AGONES_ALLOC_DECL void client_pool::released(client_connection& connection) {
  auto const most = lanes_[0].most + lanes_[1].active;
  if (connection.context() == context_ && connections_.size() - dialing_ <= most) {
    resting_.push_back(&connection);
  } else {
    auto const self = connections_.at(&connection);
    connections_.erase(&connection);
    self->close();
  }
  pump_soon();
}

AGONES_ALLOC_DECL void client_pool::closed(client_connection& connection) {
  connections_.erase(&connection);
  std::erase(resting_, &connection);
  pump_soon();
}

AGONES_ALLOC_DECL void client_pool::cut(client_connection& connection) { closed(connection); }

AGONES_ALLOC_DECL void client_pool::open_failed(client_connection& connection, error_code, std::string_view phase,
                                                std::string_view reason) {
  --dialing_;
  ++counts_.failed;
  connections_.erase(&connection);
  warn("cannot connect", phase, reason);
  if (auto* const l = longest_waiting()) {
    auto const call = l->waiting.front();
    call->give_up(errc::unavailable, std::string{phase}.append(": ").append(reason));
  }
  pump_soon();
}

AGONES_ALLOC_DECL auto client_pool::longest_waiting() noexcept -> call_lane* {
  call_lane* out = nullptr;
  for (auto& lane : lanes_) {
    if (lane.waiting.empty()) continue;
    if (out == nullptr || lane.waiting.front()->number < out->waiting.front()->number) out = &lane;
  }
  return out;
}

AGONES_ALLOC_DECL void client_pool::close_resting(bool all) {
  auto const listed = resting_;
  for (auto* const one : listed) {
    if (!all && one->context() == context_) continue;
    std::erase(resting_, one);
    auto const connection = connections_.at(one);
    connections_.erase(one);
    connection->close();
  }
}

AGONES_ALLOC_DECL void client_pool::set_alarm() { alarm_.set(times_.next(), shared_from_this()); }

AGONES_ALLOC_DECL void client_pool::on_alarm() {
  auto const now = settings_->time->now();
  while (auto* const due = times_.take_due(now)) {
    if (due == &rate_time_) continue;
    if (due == &fetch_time_) {
      cancel_fetch_.emit(boost::asio::cancellation_type::terminal);
      on_fetched(errc::unavailable, {});
      continue;
    }
    auto& call = static_cast<client_call&>(*due);
    call.give_up(now >= call.deadline ? errc::deadline_exceeded : errc::too_many_requests);
  }
  pump();
  set_alarm();
}

AGONES_ALLOC_DECL auto client_pool::counts() const noexcept -> client_counts {
  auto out = counts_;
  out.open = connections_.size() - dialing_;
  out.idle = resting_.size();
  out.waiting = lanes_[0].waiting.size() + lanes_[1].waiting.size();
  return out;
}

AGONES_ALLOC_DECL void client_pool::shut() {
  if (std::exchange(shut_, true)) return;
  fetching_ = false;
  cancel_fetch_.emit(boost::asio::cancellation_type::terminal);
  fail_waiting(errc::cancelled);
  auto const active = active_;
  for (auto const& [raw, call] : active) call->give_up(errc::cancelled);
  auto const refused = std::move(refused_);
  refused_.clear();
  for (auto const& call : refused) call->give_up(errc::cancelled);
  auto const connections = std::move(connections_);
  connections_.clear();
  resting_.clear();
  dialing_ = 0;
  for (auto const& [raw, connection] : connections) connection->close();
  alarm_.stop();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
