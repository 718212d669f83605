#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/beast/client/pooled_http_client.hpp>
#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/beast/call_terms.hpp>
#include <agones_alloc/beast/remote/hop_header.hpp>
#include <agones_alloc/beast/remote/remote_answer.hpp>
#include <agones_alloc/beast/remote/rest_remote_allocator.hpp>
#include <agones_alloc/beast/remote/secret_credentials.hpp>
#include <agones_alloc/flow/detail/recent_table.hpp>
#include <agones_alloc/json/rest.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// One endpoint with its connections. A call holds it, so that it may be forgotten meanwhile.
struct remote_target {
  std::string endpoint;
  credential_reference reference;
  std::string server_name;
  std::shared_ptr<secret_credentials> credentials;
  std::optional<pooled_http_client> client;
};

/// One call, cancelled from any thread.
struct remote_exchange {
  remote_exchange(remote_call c, remote_allocator::handler h) : call{std::move(c)}, done{std::move(h)} {}
  remote_call call;
  remote_allocator::handler done;
  boost::asio::cancellation_signal withdraw;
  bool cancelled{false};
};

/// Confined to its strand, but for `submit`, `tell` and `shut`.
class rest_remote_core final : public std::enable_shared_from_this<rest_remote_core> {
 public:
  rest_remote_core(boost::asio::any_io_executor executor, secret_source* secrets, timer& time,
                   rest_remote_options options)
      : strand_{boost::asio::make_strand(std::move(executor))},
        own_{strand_},
        secrets_{secrets},
        time_{&time},
        options_{std::move(options)},
        targets_{options_.endpoints} {
    client_.limits.connections = options_.connections;
    client_.limits.body_bytes = options_.answer_bytes;
    client_.times.queue = client_.times.resolve = client_.times.connect = client_.times.handshake = options_.connect_time;
    client_.times.credentials = options_.connect_time;
    client_.times.first_byte = client_.times.body = std::chrono::hours{1};  // the call's deadline is what counts
    client_.times.idle = options_.idle_time;
    if (auto const* const bad = first_bad_field(client_)) {
      throw std::invalid_argument{std::string{"rest_remote_options: out of range: "} + bad};
    }
    if (options_.endpoints == 0) throw std::invalid_argument{"rest_remote_options::endpoints is out of range"};
  }

  void submit(remote_call call, remote_allocator::handler done) {
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    auto const one = std::make_shared<remote_exchange>(std::move(call), std::move(done));
    if (slot.is_connected()) {
      slot.assign([weak = std::weak_ptr<remote_exchange>{one}, strand = strand_](boost::asio::cancellation_type type) {
        if (type == boost::asio::cancellation_type::none) return;
        boost::asio::dispatch(strand, [weak] {
          auto const found = weak.lock();
          if (!found) return;
          found->cancelled = true;
          found->withdraw.emit(boost::asio::cancellation_type::terminal);
        });
      });
    }
    boost::asio::dispatch(strand_, [self = shared_from_this(), one] { self->begin(one); });
  }

  void tell(boost::asio::any_completion_handler<void(std::vector<remote_endpoint_state>)> done) {
    boost::asio::post(strand_, [self = shared_from_this(), done = std::move(done)]() mutable {
      complete(self->own_, std::move(done), self->endpoints());
    });
  }

  void shut() {
    boost::asio::post(strand_, [self = shared_from_this()] {
      self->shut_ = true;
      self->targets_.visit([](std::string_view, std::shared_ptr<remote_target> const& of) {
        if (of && of->client) of->client->close();
      });
    });
  }

 private:
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
    auto body = allocation_to_rest_request(*call.allocation, call.gates, {call.namespace_.view(), true});
    if (!body) {
      out.result = outcome::invalid;
      out.errors.push_back({field_error_type::forbidden, body.error().field, "", body.error().message});
      return finish_later(one, std::move(out));
    }
    auto found = target_of(call);
    if (auto* const problem = std::get_if<std::string>(&found)) {
      out.message = std::move(*problem);
      return finish_later(one, std::move(out));
    }
    auto target = std::get<0>(std::move(found));
    client_request request;
    request.method = "POST";
    request.target = "/gameserverallocation";
    request.content_type = "application/json";
    request.body = *std::move(body);
    request.headers.emplace_back("Accept", "application/json");
    if (!call.request_id.empty()) request.headers.emplace_back(request_id_header, call.request_id);
    request.headers.emplace_back(hop_header, std::to_string(call.hops + 1));
    if (call.deadline != std::chrono::steady_clock::time_point::max()) {
      request.headers.emplace_back("Grpc-Timeout", grpc_timeout_text(call.deadline - now));
      request.deadline = call.deadline;
    }
    auto* const client = &*target->client;
    auto answered = [self = shared_from_this(), one, target = std::move(target)](error_code ec, client_response answer) {
      self->finish(one, self->judge(*target, one->call, ec, answer));
    };
    client->async_request(std::move(request),
                          boost::asio::bind_cancellation_slot(
                              one->withdraw.slot(), boost::asio::bind_executor(strand_, std::move(answered))));
  }

  auto target_of(remote_call const& call) -> std::variant<std::shared_ptr<remote_target>, std::string> {
    std::string key;
    for (auto const& part : {call.endpoint, call.server_name, call.credentials.namespace_, call.credentials.secret,
                             call.credentials.server_ca}) {
      key.append(part.view()).append(1, '\0');
    }
    if (auto const* const known = targets_.find(key); known != nullptr && *known) return targets_.use(key);
    auto parsed = parse_endpoint(call.endpoint.view(), options_.allow_plaintext);
    if (auto* const problem = std::get_if<std::string>(&parsed)) return std::move(*problem);
    auto made = std::make_shared<remote_target>();
    made->endpoint = call.endpoint.str();
    made->reference = call.credentials;
    made->server_name = call.server_name.str();
    secret_credentials_options how;
    how.time_to_live = options_.secret_time_to_live;
    how.retry = options_.secret_retry;
    how.counts = options_.counts;
    how.log = options_.log;
    made->credentials = std::make_shared<secret_credentials>(boost::asio::any_io_executor{strand_}, *time_, secrets_,
                                                             call.credentials, made->server_name, how);
    made->client.emplace(boost::asio::any_io_executor{strand_}, std::get<client_endpoint>(std::move(parsed)),
                         made->credentials, *time_, client_, options_.log);
    targets_.use(key) = made;
    return made;
  }

  auto judge(remote_target const& target, remote_call const& call, error_code ec, client_response const& answer) const
      -> remote_result {
    if (!ec) return judge_remote_answer(answer, call, options_.exhausted_codes);
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
    boost::asio::post(strand_, [self = shared_from_this(), one, result = std::move(result)]() mutable {
      self->finish(one, std::move(result));
    });
  }

  void finish(std::shared_ptr<remote_exchange> const& one, remote_result result) {
    complete(own_, std::move(one->done), std::move(result));
  }

  auto endpoints() const -> std::vector<remote_endpoint_state> {
    std::vector<remote_endpoint_state> out;
    targets_.visit([&out](std::string_view, std::shared_ptr<remote_target> const& of) {
      if (!of || !of->client) return;
      auto const counts = of->client->counts();
      remote_endpoint_state one;
      one.endpoint = of->endpoint;
      if (!of->reference.secret.empty()) one.secret = of->reference.namespace_.str() + "/" + of->reference.secret.str();
      one.server_name = of->server_name;
      one.credential_version = of->credentials->version();
      one.problem = of->credentials->problem();
      one.connections = counts.open;
      one.opened = counts.opened;
      one.sent = counts.sent;
      out.push_back(std::move(one));
    });
    std::sort(out.begin(), out.end(), [](auto const& a, auto const& b) { return a.endpoint < b.endpoint; });
    return out;
  }

  boost::asio::strand<boost::asio::any_io_executor> strand_;
  boost::asio::any_completion_executor own_;
  secret_source* secrets_;
  timer* time_;
  rest_remote_options options_;
  client_options client_;
  recent_table<std::shared_ptr<remote_target>> targets_;
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
AGONES_ALLOC_DECL void rest_remote_allocator::tell_endpoints(endpoints_handler done) { core_->tell(std::move(done)); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
