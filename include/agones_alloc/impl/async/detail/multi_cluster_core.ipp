#pragma once

#include <agones_alloc/async/detail/call_deadline.hpp>
#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/detail/drawn_id.hpp>
#include <agones_alloc/async/detail/multi_cluster_core.hpp>
#include <agones_alloc/async/detail/serial_executor.hpp>
#include <agones_alloc/detail/hash.hpp>
#include <agones_alloc/detail/small_blocks.hpp>
#include <agones_alloc/flow/gate_settings.hpp>
#include <agones_alloc/flow/policy_choice.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <span>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Equal for requests that any cluster answers alike.
inline auto shape_of(allocation_request const& request) noexcept -> std::size_t {
  stable_hash hash;
  for (auto const& shape : request.shapes()) hash.add(static_cast<std::uint64_t>(shape.hash));
  return hash.value();
}

/// Callers are spared where somebody else finds out in time.
inline auto memory_options(multi_cluster_options const& options, remote_allocator const& remote) noexcept
    -> cluster_memory_options {
  auto out = options.memory;
  if (remote.can_probe()) {
    out.calls_probe_after = options.probe_idle ? std::chrono::nanoseconds::max() : std::chrono::seconds{1};
  }
  return out;
}

/// What a call may take longer when its remote is to wait for games, one after the other.
inline auto gate_time(std::string_view text) -> std::chrono::nanoseconds {
  gate_settings asked;
  field_errors ignored;
  if (!text.empty()) change_gate(asked, text, {}, ignored);
  return asked.enabled ? asked.timeout * asked.servers : std::chrono::nanoseconds{0};
}

AGONES_ALLOC_DECL multi_cluster_core::multi_cluster_core(boost::asio::any_io_executor executor, allocator* local,
                                                         remote_allocator& remote, policy_source const& policies,
                                                         timer& time, random_source& random,
                                                         multi_cluster_options options, multi_cluster_ports ports)
    : serial_{serial_executor(std::move(executor), options.serial_executor)},
      own_{serial_},
      local_{local},
      remote_{remote},
      policies_{policies},
      time_{time},
      random_{random},
      options_{std::move(options)},
      ports_{ports},
      memory_{memory_options(options_, remote)} {}

AGONES_ALLOC_DECL void multi_cluster_core::submit(multi_cluster_request request, handler done) {
  ++outstanding_;
  auto const leave = std::allocate_shared<cluster_cancel>(small_block_allocator<cluster_cancel>{});
  auto slot = boost::asio::get_associated_cancellation_slot(done);
  if (slot.is_connected()) {
    slot.assign([weak = weak_from_this(), leave](boost::asio::cancellation_type type) {
      if (type == boost::asio::cancellation_type::none) return;
      auto const self = weak.lock();
      if (!self) return;
      boost::asio::post(self->serial_, [self, leave] {
        leave->asked = true;
        if (auto const op = leave->operation.lock()) self->cancel(op);
      });
    });
  }
  boost::asio::post(serial_, [self = shared_from_this(), leave, request = std::move(request),
                              done = std::move(done)]() mutable {
    self->begin(std::move(request), std::move(done), *leave);
  });
}

AGONES_ALLOC_DECL void multi_cluster_core::reject(handler done, allocation_result result) {
  --outstanding_;
  result.multi_cluster = true;
  auto const ec = error_of(result.result);
  complete(own_, std::move(done), ec, std::move(result));
}

// By the policies of now. Requests of one namespace and selector share what is made of them.
AGONES_ALLOC_DECL auto multi_cluster_core::choose(allocation_request const& request)
    -> std::variant<connection_iterator, field_error> {
  constexpr std::size_t most = 256;
  auto all = policies_.policies();
  auto const& space = request.allocation().meta.namespace_;
  auto const& selector = request.allocation().spec.multi_cluster.policy_selector;
  if (all != chosen_of_) chosen_.clear();
  chosen_of_ = std::move(all);
  bool const simple = selector.match_expressions.empty();
  auto& key = chosen_key_;
  if (simple) {
    key.assign(space.view()).append(1, '\0').append(selector.match_labels.bytes());
    if (auto const known = chosen_.find(key); known != chosen_.end()) return known->second;
  }
  auto found = choose_policies(*chosen_of_, space.view(), selector);
  if (auto* const problem = std::get_if<field_error>(&found)) return std::move(*problem);
  connection_iterator made{std::get<0>(found)};
  if (chosen_.size() >= most) chosen_.clear();
  if (simple) chosen_.emplace(key, made);
  return made;
}

AGONES_ALLOC_DECL void multi_cluster_core::begin(multi_cluster_request request, handler done, cluster_cancel& leave) {
  allocation_result refused;
  if (closed_ || leave.asked) {
    refused.result = outcome::cancelled;
    return reject(std::move(done), std::move(refused));
  }
  if (request.request == nullptr) {
    refused.result = outcome::invalid;
    refused.errors.push_back({field_error_type::required, "request", "", "a compiled request is needed"});
    return reject(std::move(done), std::move(refused));
  }
  if (operations_.size() >= options_.max_operations) {
    refused.result = outcome::contention;
    refused.retry_after = std::chrono::milliseconds{100};
    return reject(std::move(done), std::move(refused));
  }
  auto found = choose(*request.request);
  if (auto* const problem = std::get_if<field_error>(&found)) {
    refused.result = outcome::invalid;
    refused.errors.push_back(std::move(*problem));
    return reject(std::move(done), std::move(refused));
  }
  auto& chosen = *std::get_if<connection_iterator>(&found);
  if (chosen.groups().empty() && !options_.limits.fallback_local) {
    refused.result = outcome::refused;
    refused.server_code = 500;
    refused.server_message = no_policy_text;
    return reject(std::move(done), std::move(refused));
  }
  auto const now = time_.now();
  auto const deadline = call_deadline(request.options, now, options_.timeout);
  if (request.request_id.empty()) request.request_id = drawn_id(random_);
  cluster_fsm::request const limits{shape_of(*request.request), request.hops, deadline, call_wait_until(request.options, now)};
  auto const op = std::make_shared<cluster_operation>(std::move(request), std::move(done),
                                                      cluster_fsm{std::move(chosen), limits, options_.limits});
  op->started = now;
  op->deadline = deadline;
  operations_.emplace(op.get(), op);
  leave.operation = op;
  carry_out(op, op->fsm.start(with()));
  go_on_probing();
}

AGONES_ALLOC_DECL void multi_cluster_core::carry_out(operation_ptr const& op, cluster_action const& action) {
  note_changes(op.get());
  switch (action.step) {
    case cluster_step::local: return allocate_here(op, action.until);
    case cluster_step::remote: return call_remote(op);
    case cluster_step::hold: return;
    case cluster_step::finished: return finish(op, action.result);
    case cluster_step::sleep: break;
  }
  auto woken = [self = shared_from_this(), op](error_code) {
    if (!op->leaving) self->carry_out(op, op->fsm.woken(self->with()));
  };
  time_.async_wait_until(action.until, boost::asio::bind_cancellation_slot(
                                           op->withdraw.slot(), boost::asio::bind_executor(serial_, std::move(woken))));
}

AGONES_ALLOC_DECL void multi_cluster_core::allocate_here(operation_ptr const& op, timer::time_point wait_until) {
  if (local_ == nullptr) {
    boost::asio::post(serial_, [self = shared_from_this(), op] {
      allocation_result none;
      none.server_message = "this process has no game servers of its own";
      self->on_local(op, std::move(none));
    });
    return;
  }
  auto const& space = op->fsm.at().connection.namespace_;
  auto const& request = op->request.request;
  bool const same = space.empty() || space == request->allocation().meta.namespace_;
  allocate_options options;
  options.deadline = op->deadline;
  // Only when nobody else has one: another cluster may have a server at once.
  if (auto const now = time_.now(); wait_until > now) options.wait_for = wait_until - now;
  options.tentative_since = op->started;
  options.request_id = op->request.options.request_id;
  options.claim_ttl = op->request.options.claim_ttl;
  options.gate = op->request.options.gate;
  auto done = [self = shared_from_this(), op](error_code, allocation_result result) {
    self->on_local(op, std::move(result));
  };
  local_->async_allocate(same ? request : request->in_namespace(space.view()), options,
                         boost::asio::bind_cancellation_slot(op->withdraw.slot(),
                                                             boost::asio::bind_executor(serial_, std::move(done))));
}

AGONES_ALLOC_DECL void multi_cluster_core::on_local(operation_ptr const& op, allocation_result result) {
  cluster_answer answer{result.result, false, result.server_message.str(), result.retry_after};
  for (auto& one : result.attempts) {
    if (op->local_attempts.size() >= options_.limits.most_attempts) break;
    one.cluster = op->fsm.at().identity;
    op->local_attempts.push_back(std::move(one));
  }
  result.attempts.clear();
  if (result.result == outcome::exhausted) op->remaining = result.remaining;
  op->last = std::move(result);
  carry_out(op, op->fsm.answered(std::move(answer), with()));
}

AGONES_ALLOC_DECL void multi_cluster_core::call_remote(operation_ptr const& op) {
  auto const& request = op->request.request;
  auto const& at = op->fsm.at();
  auto const& space = request->allocation().meta.namespace_;
  remote_call call;
  call.cluster = at.identity;
  call.endpoint = op->fsm.endpoint();
  call.server_name = at.server_name;
  call.namespace_ = at.connection.namespace_.empty() ? space : at.connection.namespace_;
  call.credentials = {space, at.connection.secret_name, at.connection.server_ca};
  call.allocation = std::shared_ptr<game_server_allocation const>{request, &request->allocation()};
  call.gates = request->gates();
  call.match_expressions = at.match_expressions;
  if (op->request.options.gate) call.gate = op->request.options.gate->text;
  call.deadline = std::min(op->deadline, time_.now() + options_.call_timeout + gate_time(call.gate));
  call.request_id = op->request.request_id;
  call.hops = op->request.hops;
  auto done = [self = shared_from_this(), op](remote_result result) { self->on_remote(op, std::move(result)); };
  remote_.async_allocate(std::move(call),
                         boost::asio::bind_cancellation_slot(op->withdraw.slot(),
                                                             boost::asio::bind_executor(serial_, std::move(done))));
}

AGONES_ALLOC_DECL void multi_cluster_core::on_remote(operation_ptr const& op, remote_result result) {
  cluster_answer answer{result.result, result.whole_cluster, result.message.str(), result.retry_after};
  if (answer.message.empty() && !result.errors.empty()) answer.message = to_string(result.errors);
  allocation_result last;
  last.result = result.result;
  last.server = std::move(result.server);
  last.source = op->fsm.endpoint();
  last.server_message = std::move(result.message);
  last.server_code = result.code;
  last.errors = std::move(result.errors);
  last.retry_after = result.retry_after;
  op->last = std::move(last);
  auto const action = op->fsm.answered(std::move(answer), with());
  if (ports_.counts != nullptr && !op->fsm.attempts().empty()) {
    auto const& call = op->fsm.attempts().back();
    if (call.endpoint == op->last.source.view()) {
      ports_.counts->cluster_call({call.cluster, call.endpoint, call.result, call.took});
    }
  }
  carry_out(op, action);
}

AGONES_ALLOC_DECL void multi_cluster_core::cancel(operation_ptr const& op) {
  if (!operations_.contains(op.get()) || op->leaving) return;
  op->leaving = true;
  auto const kept = op;
  carry_out(kept, kept->fsm.cancel());
  kept->withdraw.emit(boost::asio::cancellation_type::terminal);
}

AGONES_ALLOC_DECL void multi_cluster_core::close() {
  boost::asio::post(serial_, [self = shared_from_this()] {
    self->closed_ = true;
    auto const all = self->operations_;
    for (auto const& [raw, op] : all) self->cancel(op);
    auto const watched = std::exchange(self->watched_, {});
    for (auto const& [key, one] : watched) one->withdraw.emit(boost::asio::cancellation_type::terminal);
  });
}

AGONES_ALLOC_DECL void multi_cluster_core::tell_endpoints(endpoints_handler done) {
  boost::asio::post(serial_, [self = shared_from_this(), done = std::move(done)]() mutable {
    complete(self->own_, std::move(done), self->memory_.endpoints(self->time_.now()));
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
