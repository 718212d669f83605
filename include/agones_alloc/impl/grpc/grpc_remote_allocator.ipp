#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/grpc/grpc_answer.hpp>
#include <agones_alloc/grpc/grpc_remote_allocator.hpp>
#include <agones_alloc/grpc/health_probe.hpp>
#include <agones_alloc/grpc/messages.hpp>
#include <agones_alloc/impl/grpc/grpc_outgoing.hpp>
#include <agones_alloc/impl/grpc/grpc_targets.hpp>

#include <agones_alloc_proto/allocation.pb.h>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr char const* grpc_allocate_path = "/allocation.AllocationService/Allocate";

/// One allocation or probe on its way: to credentials, to a connection, to its answer.
struct grpc_errand {
  remote_call call;
  ::grpc::ByteBuffer message;  ///< not of a probe
  bool probe{false};
  std::function<void(remote_result)> done;
  std::shared_ptr<grpc_target> target;
  timer::time_point connect_by;
  std::shared_ptr<outgoing_call> out;  ///< what is under way
  boost::asio::cancellation_signal fetching;
  boost::asio::cancellation_signal timing;
  bool cancelled{false};

  void cancel() {
    cancelled = true;
    fetching.emit(boost::asio::cancellation_type::terminal);
    if (out) out->context.TryCancel();
  }
};

/// What gRPC takes for the value of a metadatum; anything else would end the program.
inline auto is_metadata(std::string_view text) noexcept -> bool {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

/// Why there is no connection, by the end of the health service's answer; "": there is one. A remote need not have the service.
inline auto unreached(outgoing_call const& health) -> std::string {
  static constexpr std::string_view not_serving{"\x08\x02", 2};
  constexpr std::size_t most_text = 512;
  auto const& status = health.status;
  switch (status.error_code()) {
    case ::grpc::StatusCode::OK: return health.body() == not_serving ? "it says that it does not serve" : "";
    case ::grpc::StatusCode::UNIMPLEMENTED:
    case ::grpc::StatusCode::NOT_FOUND:
    case ::grpc::StatusCode::UNAUTHENTICATED:
    case ::grpc::StatusCode::PERMISSION_DENIED: return {};
    case ::grpc::StatusCode::DEADLINE_EXCEEDED: return "no connection in time";
    default: break;
  }
  auto const& message = status.error_message();
  return message.empty() ? "no answer of its health service" : message.substr(0, most_text);
}

/// Confined to its strand, but for `submit`, `probe`, `tell` and `shut`.
class grpc_remote_core final : public std::enable_shared_from_this<grpc_remote_core> {
 public:
  grpc_remote_core(boost::asio::any_io_executor executor, secret_source* secrets, timer& time, grpc_remote_options options)
      : strand_{boost::asio::make_strand(std::move(executor))},
        own_{strand_},
        time_{&time},
        options_{checked(std::move(options))},
        targets_{strand_, secrets, time, options_} {}

  template <class Handler, class Tell>
  void submit(remote_call call, bool probe, Handler done, Tell tell_result) {
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    auto const one = std::make_shared<grpc_errand>();
    one->call = std::move(call);
    one->probe = probe;
    // A std::function is copied, and a handler cannot be.
    auto kept = std::make_shared<Handler>(std::move(done));
    one->done = [this, kept = std::move(kept), tell_result](remote_result result) {
      auto handler = std::move(*kept);
      tell_result(own_, std::move(handler), std::move(result));
    };
    if (slot.is_connected()) {
      slot.assign([weak = std::weak_ptr<grpc_errand>{one}, strand = strand_](boost::asio::cancellation_type type) {
        if (type == boost::asio::cancellation_type::none) return;
        boost::asio::dispatch(strand, [weak] {
          if (auto const found = weak.lock()) found->cancel();
        });
      });
    }
    boost::asio::dispatch(strand_, [self = shared_from_this(), one] { self->begin(one); });
  }

  void tell(boost::asio::any_completion_handler<void(std::vector<remote_endpoint_state>)> done) {
    boost::asio::post(strand_, [self = shared_from_this(), done = std::move(done)]() mutable {
      complete(self->own_, std::move(done), self->targets_.states());
    });
  }

  void shut() {
    calls_.close();
    boost::asio::post(strand_, [self = shared_from_this()] {
      self->shut_ = true;
      self->targets_.close();
      for (auto const& one : std::vector<errand_ptr>{self->fetching_.begin(), self->fetching_.end()}) one->cancel();
    });
  }

 private:
  using errand_ptr = std::shared_ptr<grpc_errand>;

  static auto checked(grpc_remote_options options) -> grpc_remote_options {
    auto const fail = [](char const* field) {
      throw std::invalid_argument{std::string{"grpc_remote_options::"} + field + " is out of range"};
    };
    auto const time = [&fail](std::chrono::nanoseconds value, char const* field) {
      if (value < std::chrono::milliseconds{1} || value > std::chrono::hours{24}) fail(field);
    };
    time(options.connect_time, "connect_time");
    time(options.idle_time, "idle_time");
    time(options.ping_time, "ping_time");
    time(options.ping_wait, "ping_wait");
    if (options.answer_bytes < 1 || options.answer_bytes > std::size_t{0x7fffffff}) fail("answer_bytes");
    if (options.endpoints < 1) fail("endpoints");
    return options;
  }

  void begin(errand_ptr const& one) {
    auto& call = one->call;
    remote_result out;
    auto const now = time_->now();
    if (one->cancelled || shut_) return finish_later(one, withdrawn());
    if (now >= call.deadline) {
      out.result = outcome::deadline;
      out.message = "no time left";
      return finish_later(one, std::move(out));
    }
    if (!one->probe && !write(*one, out)) return finish_later(one, std::move(out));
    auto found = targets_.of(call);
    if (auto* const wrong = std::get_if<std::string>(&found)) {
      out.message = std::move(*wrong);
      return finish_later(one, std::move(out));
    }
    one->target = std::get<0>(std::move(found));
    one->connect_by = std::min(now + options_.connect_time, call.deadline);
    if (auto const credentials = one->target->credentials->current()) return connect(one, credentials);
    fetch(one);
  }

  /// False: it cannot be said, see `out`.
  static auto write(grpc_errand& one, remote_result& out) -> bool {
    auto const& call = one.call;
    if (!is_metadata(call.request_id) || !is_metadata(call.gate)) {
      out.whole_cluster = true;
      out.message = "the request cannot be written";
      return false;
    }
    ::allocation::AllocationRequest message;
    if (auto problem = allocation_to_message(*call.allocation, message, call.gates, {call.namespace_.view(), true, call.match_expressions})) {
      out.result = outcome::invalid;
      out.errors.push_back({field_error_type::forbidden, std::move(problem->field), "", std::move(problem->message)});
      return false;
    }
    ::grpc::Slice const bytes{message.SerializeAsString()};
    one.message = ::grpc::ByteBuffer{&bytes, 1};
    return true;
  }

  void fetch(errand_ptr const& one) {
    fetching_.insert(one);
    // Its time is the connection's: whichever is over first ends the other.
    time_->async_wait_until(one->connect_by,
                            boost::asio::bind_cancellation_slot(
                                one->timing.slot(), boost::asio::bind_executor(strand_, [one](error_code ec) {
                                  if (!ec) one->fetching.emit(boost::asio::cancellation_type::terminal);
                                })));
    auto fetched = [self = shared_from_this(), one](error_code ec, credentials_ptr const& credentials) {
      self->fetching_.erase(one);
      one->timing.emit(boost::asio::cancellation_type::terminal);
      if (self->given_up(one)) return;
      if (!ec && credentials) return self->connect(one, credentials);
      auto const& problem = one->target->credentials->problem();
      if (ec == errc::cancelled) return self->not_connected(one, "no credentials in time");
      remote_result out;
      out.whole_cluster = true;
      out.message = problem.empty() ? "no credentials" : problem;
      self->finish(one, std::move(out));
    };
    one->target->credentials->async_fetch(
        nullptr, boost::asio::bind_cancellation_slot(one->fetching.slot(),
                                                     boost::asio::bind_executor(strand_, std::move(fetched))));
  }

  void connect(errand_ptr const& one, credentials_ptr const& credentials) {
    auto& to = *one->target;
    auto channel = targets_.channel_of(to, credentials);
    bool const connected = to.connected();
    if (connected && !one->probe) return send(one, std::move(channel));
    auto const health = std::make_shared<outgoing_call>();
    health->channel = std::move(channel);
    ::grpc::Slice const nothing;
    health->request = ::grpc::ByteBuffer{&nothing, 1};
    health->set_time((one->probe ? one->call.deadline : one->connect_by) - time_->now());
    run(one, health, health_path, [self = shared_from_this(), one, connected](outgoing_call& ended) {
      self->heard(one, ended, connected);
    });
  }

  void heard(errand_ptr const& one, outgoing_call& health, bool was_connected) {
    auto& to = *one->target;
    auto problem = unreached(health);
    if (problem.empty() && !was_connected) ++to.opened;
    // What cannot be connected to is tried anew, not after gRPC's own pauses: there is a breaker for that.
    if (!problem.empty() && to.channel == health.channel && !to.connected()) to.channel = nullptr;
    if (given_up(one)) return;
    if (!problem.empty()) return not_connected(one, std::move(problem));
    if (one->probe) return finish(one, {});
    send(one, health.channel);
  }

  void send(errand_ptr const& one, std::shared_ptr<::grpc::Channel> channel) {
    auto const& call = one->call;
    auto const now = time_->now();
    if (now >= call.deadline) return not_connected(one, "no connection in time");
    auto const out = std::make_shared<outgoing_call>();
    out->channel = std::move(channel);
    out->request = std::move(one->message);
    if (call.deadline != std::chrono::steady_clock::time_point::max()) out->set_time(call.deadline - now);
    if (!call.request_id.empty()) out->context.AddMetadata("idempotency-key", call.request_id);
    if (!call.gate.empty()) out->context.AddMetadata("agones-alloc-gate", call.gate);
    out->context.AddMetadata("agones-alloc-hops", std::to_string(call.hops + 1));
    ++one->target->sent;
    run(one, out, grpc_allocate_path, [self = shared_from_this(), one](outgoing_call& ended) {
      grpc_answer answer;
      answer.code = ended.status.error_code();
      answer.message = ended.status.error_message();
      answer.details = ended.status.error_details();
      answer.body = ended.body();
      answer.answered = ended.response.Valid();
      answer.retry_after = ended.trailer("retry-after");
      self->finish(one, judge_grpc_answer(answer, one->call, self->options_.exhausted_codes));
    });
  }

  void run(errand_ptr const& one, std::shared_ptr<outgoing_call> const& call, char const* path, outgoing_calls::ending then) {
    one->out = call;
    if (calls_.begin(call, path, strand_, [one, then = std::move(then)](outgoing_call& ended) {
          one->out = nullptr;
          then(ended);
        })) {
      return;
    }
    one->out = nullptr;
    finish_later(one, withdrawn());
  }

  static auto withdrawn() -> remote_result {
    remote_result out;
    out.result = outcome::cancelled;
    out.message = "withdrawn before it was sent";
    return out;
  }

  /// Whether its caller has left before anything was sent; it is finished then.
  auto given_up(errand_ptr const& one) -> bool {
    if (!one->cancelled && !shut_) return false;
    finish(one, withdrawn());
    return true;
  }

  void not_connected(errand_ptr const& one, std::string why) {
    remote_result out;
    if (time_->now() >= one->call.deadline) {
      out.result = outcome::deadline;
      why.insert(0, "not sent: ");
    }
    out.message = std::move(why);
    finish(one, std::move(out));
  }

  /// Perhaps still inside the initiating function.
  void finish_later(errand_ptr const& one, remote_result result) {
    boost::asio::post(strand_, [self = shared_from_this(), one, result = std::move(result)]() mutable {
      self->finish(one, std::move(result));
    });
  }

  void finish(errand_ptr const& one, remote_result result) {
    auto const done = std::exchange(one->done, nullptr);
    done(std::move(result));
  }

  boost::asio::strand<boost::asio::any_io_executor> strand_;
  boost::asio::any_completion_executor own_;
  timer* time_;
  grpc_remote_options options_;
  outgoing_calls calls_;
  grpc_targets targets_;
  std::unordered_set<errand_ptr> fetching_;  ///< what waits for credentials
  bool shut_{false};
};

}  // namespace detail

AGONES_ALLOC_DECL grpc_remote_allocator::grpc_remote_allocator(boost::asio::any_io_executor executor, secret_source* secrets,
                                                               timer& time, grpc_remote_options options)
    : core_{std::make_shared<detail::grpc_remote_core>(std::move(executor), secrets, time, std::move(options))} {}
AGONES_ALLOC_DECL grpc_remote_allocator::~grpc_remote_allocator() { core_->shut(); }
AGONES_ALLOC_DECL void grpc_remote_allocator::close() { core_->shut(); }

AGONES_ALLOC_DECL void grpc_remote_allocator::do_allocate(remote_call call, handler done) {
  core_->submit(std::move(call), false, std::move(done), [](auto const& own, handler to, remote_result result) {
    detail::complete(own, std::move(to), std::move(result));
  });
}

AGONES_ALLOC_DECL void grpc_remote_allocator::do_probe(remote_call call, probe_handler done) {
  core_->submit(std::move(call), true, std::move(done), [](auto const& own, probe_handler to, remote_result result) {
    detail::complete(own, std::move(to), result.message.str());
  });
}

AGONES_ALLOC_DECL void grpc_remote_allocator::tell_endpoints(endpoints_handler done) { core_->tell(std::move(done)); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
