#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/detail/serial_executor.hpp>
#include <agones_alloc/beast/call_terms.hpp>
#include <agones_alloc/beast/remote/detail/forwarded_bodies.hpp>
#include <agones_alloc/beast/remote/detail/remote_targets.hpp>
#include <agones_alloc/beast/remote/hop_header.hpp>
#include <agones_alloc/beast/remote/remote_answer.hpp>
#include <agones_alloc/beast/remote/rest_remote_allocator.hpp>
#include <agones_alloc/detail/small_blocks.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Where both allocations and probes go.
inline constexpr std::string_view rest_allocation_path = "/gameserverallocation";

/// One call, cancelled from any thread.
struct remote_exchange {
  remote_exchange(remote_call c, remote_allocator::handler h) : call{std::move(c)}, done{std::move(h)} {}
  remote_call call;
  remote_allocator::handler done;
  boost::asio::cancellation_signal withdraw;
  bool cancelled{false};
};

/// Confined to its executor, which runs one handler at a time, but for `submit`, `tell` and `shut`.
class rest_remote_core final : public std::enable_shared_from_this<rest_remote_core> {
 public:
  rest_remote_core(boost::asio::any_io_executor executor, secret_source* secrets, timer& time,
                   rest_remote_options options)
      : serial_{serial_executor(std::move(executor), options.serial_executor)},
        own_{serial_},
        time_{&time},
        options_{std::move(options)},
        targets_{serial_, secrets, time, checked(options_), client_settings(options_)} {}

  void submit(remote_call call, remote_allocator::handler done) {
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    auto const one = std::allocate_shared<remote_exchange>(small_block_allocator<remote_exchange>{}, std::move(call), std::move(done));
    if (slot.is_connected()) {
      slot.assign([weak = std::weak_ptr<remote_exchange>{one}, executor = serial_](boost::asio::cancellation_type type) {
        if (type == boost::asio::cancellation_type::none) return;
        boost::asio::dispatch(executor, [weak] {
          auto const found = weak.lock();
          if (!found) return;
          found->cancelled = true;
          found->withdraw.emit(boost::asio::cancellation_type::terminal);
        });
      });
    }
    boost::asio::dispatch(serial_, [self = shared_from_this(), one] { self->begin(one); });
  }

  void probe(remote_call call, remote_allocator::probe_handler done) {
    boost::asio::dispatch(serial_, [self = shared_from_this(), call = std::move(call), done = std::move(done)]() mutable {
      self->begin_probe(call, std::move(done));
    });
  }

  void tell(boost::asio::any_completion_handler<void(std::vector<remote_endpoint_state>)> done) {
    boost::asio::post(serial_, [self = shared_from_this(), done = std::move(done)]() mutable {
      complete(self->own_, std::move(done), self->targets_.states());
    });
  }

  void shut() {
    boost::asio::post(serial_, [self = shared_from_this()] {
      self->shut_ = true;
      self->targets_.close();
    });
  }

 private:
  static auto client_settings(rest_remote_options const& options) -> client_options {
    client_options out;
    out.limits.connections = options.connections;
    out.limits.body_bytes = options.answer_bytes;
    out.times.queue = out.times.resolve = out.times.connect = out.times.handshake = options.connect_time;
    out.times.credentials = options.connect_time;
    out.times.first_byte = out.times.body = std::chrono::hours{1};  // the call's deadline is what counts
    out.times.idle = options.idle_time;
    return out;
  }
  static auto checked(rest_remote_options const& options) -> rest_remote_options const& {
    if (auto const* const bad = first_bad_field(client_settings(options))) {
      throw std::invalid_argument{std::string{"rest_remote_options: out of range: "} + bad};
    }
    if (options.endpoints == 0) throw std::invalid_argument{"rest_remote_options::endpoints is out of range"};
    return options;
  }

  void begin(std::shared_ptr<remote_exchange> const& one) {
    auto& call = one->call;
    remote_result out;
    if (one->cancelled || shut_) {
      out.result = outcome::cancelled;
      return finish_later(one, std::move(out));
    }
    auto const now = time_->now();
    if (now >= call.deadline) {
      out.result = outcome::deadline;
      return finish_later(one, std::move(out));
    }
    decode_error problem;
    auto const body = bodies_.of(call, problem);
    if (!body) {
      out.result = outcome::invalid;
      out.errors.push_back({field_error_type::forbidden, std::move(problem.field), "", std::move(problem.message)});
      return finish_later(one, std::move(out));
    }
    auto found = targets_.of(call);
    if (auto* const wrong = std::get_if<std::string>(&found)) {
      out.message = std::move(*wrong);
      return finish_later(one, std::move(out));
    }
    auto target = std::get<0>(std::move(found));
    client_request request;
    request.method = "POST";
    request.target = rest_allocation_path;
    request.content_type = "application/json";
    request.body = *body;
    request.headers.reserve(4);  // no Accept: an answer is of the request's content type, and each field costs both sides
    if (!call.request_id.empty()) request.headers.emplace_back(request_id_header, call.request_id);
    request.headers.emplace_back(hop_header, std::to_string(call.hops + 1));
    if (!call.gate.empty()) request.headers.emplace_back(gate_header, call.gate);
    if (call.deadline != std::chrono::steady_clock::time_point::max()) {
      request.headers.emplace_back("Grpc-Timeout", grpc_timeout_text(call.deadline - now));
      request.deadline = call.deadline;
    }
    auto* const client = &*target->client;
    auto answered = [self = shared_from_this(), one, target = std::move(target)](error_code ec, client_response answer) {
      self->finish(one, ec ? self->judge(*target, ec, answer)
                           : judge_remote_answer(answer, one->call, self->options_.exhausted_codes));
    };
    client->async_request(std::move(request),
                          boost::asio::bind_cancellation_slot(
                              one->withdraw.slot(), boost::asio::bind_executor(serial_, std::move(answered))));
  }

  /// Any answer but a proxy's that nobody is there: Agones has none for this method either, and says so.
  void begin_probe(remote_call const& call, remote_allocator::probe_handler done) {
    auto found = targets_.of(call);
    auto* const problem = std::get_if<std::string>(&found);
    if (problem != nullptr || shut_) {
      return boost::asio::post(serial_, [self = shared_from_this(), done = std::move(done),
                                         why = problem != nullptr ? std::move(*problem) : "closed"]() mutable {
        complete(self->own_, std::move(done), std::move(why));
      });
    }
    client_request request;
    request.target = rest_allocation_path;
    request.headers.emplace_back("Accept", "application/json");
    request.deadline = call.deadline;
    auto* const client = &*std::get<0>(found)->client;
    auto const slot = boost::asio::get_associated_cancellation_slot(done);
    auto answered = [self = shared_from_this(), target = std::get<0>(found),
                     done = std::move(done)](error_code ec, client_response const& answer) mutable {
      std::string why;
      if (ec == errc::deadline_exceeded) {
        why = "no answer in time";
      } else if (ec) {
        why = self->judge(*target, ec, answer).message.str();
      } else if (answer.status == 502 || answer.status == 503 || answer.status == 504) {
        why = "HTTP status " + std::to_string(answer.status);
      }
      complete(self->own_, std::move(done), std::move(why));
    };
    client->async_request(std::move(request),
                          boost::asio::bind_cancellation_slot(slot, boost::asio::bind_executor(serial_, std::move(answered))));
  }

  /// There is no whole answer.
  auto judge(remote_target const& target, error_code ec, client_response const& answer) const -> remote_result {
    remote_result out;
    out.code = answer.status;
    out.message = answer.reason.empty() ? ec.message() : answer.reason;
    if (ec == errc::cancelled) {
      out.result = outcome::cancelled;
    } else if (ec == errc::deadline_exceeded) {
      out.result = outcome::deadline;
      out.message = "not sent: no connection in time";
    } else if (ec == errc::outcome_unknown) {
      out.result = outcome::unknown;
      out.message = "the answer was lost, or none came in time";
    } else if (ec == errc::too_many_requests) {
      out.message = "no connection in time";
    } else if (ec == errc::invalid_request) {
      out.whole_cluster = true;
      out.message = "the request cannot be written";
    } else if (target.credentials->version() == 0 && !target.credentials->problem().empty()) {
      out.whole_cluster = true;
      out.message = target.credentials->problem();
    }
    return out;
  }

  /// Perhaps still inside the initiating function.
  void finish_later(std::shared_ptr<remote_exchange> const& one, remote_result result) {
    boost::asio::post(serial_, [self = shared_from_this(), one, result = std::move(result)]() mutable {
      self->finish(one, std::move(result));
    });
  }

  void finish(std::shared_ptr<remote_exchange> const& one, remote_result result) {
    complete(own_, std::move(one->done), std::move(result));
  }

  boost::asio::any_io_executor serial_;
  boost::asio::any_completion_executor own_;
  timer* time_;
  rest_remote_options options_;
  remote_targets targets_;
  forwarded_bodies bodies_;
  bool shut_{false};
};

}  // namespace detail

AGONES_ALLOC_DECL rest_remote_allocator::rest_remote_allocator(boost::asio::any_io_executor executor,
                                                               secret_source* secrets, timer& time,
                                                               rest_remote_options options)
    : core_{std::make_shared<detail::rest_remote_core>(std::move(executor), secrets, time, std::move(options))} {}
AGONES_ALLOC_DECL rest_remote_allocator::~rest_remote_allocator() { close(); }
AGONES_ALLOC_DECL void rest_remote_allocator::close() { core_->shut(); }
AGONES_ALLOC_DECL void rest_remote_allocator::do_allocate(remote_call call, handler done) {
  core_->submit(std::move(call), std::move(done));
}
AGONES_ALLOC_DECL void rest_remote_allocator::do_probe(remote_call call, probe_handler done) {
  core_->probe(std::move(call), std::move(done));
}
AGONES_ALLOC_DECL void rest_remote_allocator::tell_endpoints(endpoints_handler done) { core_->tell(std::move(done)); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
