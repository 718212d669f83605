#pragma once

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/detail/drawn_id.hpp>
#include <agones_alloc/beast/client/matchmaker_client.hpp>
#include <agones_alloc/beast/client/pooled_http_client.hpp>
#include <agones_alloc/beast/client/ticket_exchange.hpp>
#include <agones_alloc/beast/remote/hop_header.hpp>
#include <agones_alloc/flow/backoff.hpp>
#include <agones_alloc/json/rest.hpp>
#include <agones_alloc/select/request.hpp>

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
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// One call of a matchmaker. Lives in what it waits for.
struct matchmaker_call {
  explicit matchmaker_call(matchmaker_client::handler h) : done{std::move(h)} {}
  matchmaker_client::handler done;
  std::optional<ticket_fsm> fsm;
  shared_string ns;
  std::string body;                        ///< of the allocation
  std::chrono::nanoseconds claim_ttl{0};
  ticket_step claim{ticket_step::allocate};  ///< confirm or release, where it is about a claim only
  release_to to{release_to::ready};
  std::size_t endpoint{0};
  boost::asio::cancellation_signal withdraw;
  bool left{false};
  ticket_result out;
};

/// Confined to its strand, but for `submit` and `shut`.
class matchmaker_core final : public std::enable_shared_from_this<matchmaker_core> {
 public:
  using call_ptr = std::shared_ptr<matchmaker_call>;

  matchmaker_core(boost::asio::any_io_executor executor, std::shared_ptr<credentials_provider> credentials, timer& time,
                  random_source& random, matchmaker_client_options options)
      : strand_{boost::asio::make_strand(std::move(executor))}, own_{boost::asio::any_io_executor{strand_}}, time_{&time},
        random_{&random}, options_{std::move(options)} {
    if (options_.endpoints.empty()) throw std::invalid_argument{"matchmaker_client_options.endpoints: must not be empty"};
    if (options_.most == 0) throw std::invalid_argument{"matchmaker_client_options.most: must be at least 1"};
    if (options_.try_time.count() <= 0) throw std::invalid_argument{"matchmaker_client_options.try_time: must be positive"};
    check(options_.rules.retry, "matchmaker_client_options.rules.retry");
    // A server that waits for a game server says nothing meanwhile: the try's deadline is what counts.
    options_.http.times.first_byte = std::chrono::hours{24};
    for (auto const& one : options_.endpoints) {
      clients_.push_back(std::make_unique<pooled_http_client>(boost::asio::any_io_executor{strand_}, one, credentials, time,
                                                              options_.http, options_.log));
    }
  }

  /// `begin`: on the strand, gives the first action.
  template <class Begin>
  void submit(call_ptr const& one, Begin begin) {
    auto slot = boost::asio::get_associated_cancellation_slot(one->done);
    if (slot.is_connected()) {
      slot.assign([weak = std::weak_ptr<matchmaker_call>{one}, strand = strand_](boost::asio::cancellation_type type) {
        if (type == boost::asio::cancellation_type::none) return;
        boost::asio::dispatch(strand, [weak] {
          if (auto const found = weak.lock()) leave(*found);
        });
      });
    }
    // Not dispatched: a call never completes inside the function that starts it.
    boost::asio::post(strand_, [self = shared_from_this(), one, begin = std::move(begin)]() mutable {
      if (self->shut_ || one->left) return self->refuse(one, outcome::cancelled, {});
      if (self->under_way_.size() >= self->options_.most) {
        one->out.retry_after = std::chrono::milliseconds{100};
        return self->refuse(one, outcome::contention, "too many calls at once");
      }
      self->under_way_.insert(one);
      begin(*self, one);
    });
  }

  void allocate(call_ptr const& one, ticket wish) {
    auto const now = time_->now();
    if (wish.id.empty()) wish.id = drawn_id(*random_);
    one->out.id = wish.id;
    one->ns = wish.allocation.meta.namespace_;
    one->claim_ttl = wish.claim_ttl;
    if (auto problem = problem_of(wish); !problem.empty()) return refuse(one, outcome::invalid, std::move(problem));
    auto made = allocation_request::make(std::move(wish.allocation), options_.gates);
    if (auto const* const errors = std::get_if<field_errors>(&made)) return refuse(one, outcome::invalid, to_string(*errors));
    auto body = allocation_to_rest_request(std::get<request_ptr>(made)->allocation(), options_.gates,
                                           {.match_expressions = true});  // it speaks to these servers only
    if (!body) return refuse(one, outcome::invalid, to_string(body.error()));
    one->body = *std::move(body);
    one->endpoint = preferred_;
    one->fsm.emplace(options_.rules, now + wish.wait + wish.timeout);
    perform(one, one->fsm->start(now, now + wish.wait, wish.claim_ttl, wish.confirm));
  }

  void ask_for_claim(call_ptr const& one, std::string id, std::chrono::nanoseconds timeout) {
    auto const now = time_->now();
    if (auto const problem = request_id_problem(id); !problem.empty()) return refuse(one, outcome::invalid, "id: " + problem);
    if (one->ns.empty()) return refuse(one, outcome::invalid, "namespace: must not be empty");
    if (!fits(timeout)) return refuse(one, outcome::invalid, "timeout: must not be negative, and a year at most");
    one->out.id = std::move(id);
    one->endpoint = preferred_;
    one->fsm.emplace(options_.rules, now + timeout);
    perform(one, one->fsm->start_claim(one->claim, now));
  }

  void shut() {
    boost::asio::post(strand_, [self = shared_from_this()] {
      self->shut_ = true;
      auto const present = std::vector<call_ptr>(self->under_way_.begin(), self->under_way_.end());
      for (auto const& one : present) leave(*one);
      for (auto const& client : self->clients_) client->close();
    });
  }

 private:
  static void leave(matchmaker_call& one) {
    one.left = true;
    if (one.fsm) one.fsm->leave();
    one.withdraw.emit(boost::asio::cancellation_type::terminal);
  }

  static auto fits(std::chrono::nanoseconds time) noexcept -> bool {
    return time.count() >= 0 && time <= std::chrono::hours{24 * 365};
  }
  static auto problem_of(ticket const& wish) -> std::string {
    if (auto const problem = request_id_problem(wish.id); !problem.empty()) return "id: " + problem;
    if (wish.allocation.meta.namespace_.empty()) return "allocation.meta.namespace_: must not be empty";
    if (wish.allocation.spec.multi_cluster.enabled) {
      return "allocation.spec.multiClusterSetting: claims are of one cluster: ask that one";
    }
    if (!fits(wish.wait)) return "wait: must not be negative, and a year at most";
    if (!fits(wish.claim_ttl)) return "claim_ttl: must not be negative, and a year at most";
    if (!fits(wish.timeout)) return "timeout: must not be negative, and a year at most";
    return {};
  }

  void refuse(call_ptr const& one, outcome result, std::string message) {
    one->out.message = std::move(message);
    tell(one, result);
  }

  void tell(call_ptr const& one, outcome result) {
    under_way_.erase(one);
    auto& out = one->out;
    out.result = result;
    if (one->fsm) out.confirmed = result == outcome::allocated && one->fsm->confirmed();
    if (result == outcome::allocated) out.message.clear();
    if (result != outcome::allocated && result != outcome::unknown) out.server = nullptr;
    auto const none = one->claim != ticket_step::allocate && result == outcome::exhausted;
    auto const ec = none ? error_code{errc::not_found} : error_of(result);
    complete(own_, std::move(one->done), ec, std::move(out));
  }

  void perform(call_ptr const& one, ticket_action const& action) {
    if (action.next_endpoint) one->endpoint = (one->endpoint + 1) % clients_.size();
    switch (action.step) {
      case ticket_step::allocate:
      case ticket_step::confirm:
      case ticket_step::release: return send(one, action.step, action.until);
      case ticket_step::sleep: return pause(one, action.until);
      case ticket_step::finished:
        one->out.retry_after = action.retry_after;
        return tell(one, action.result);
    }
  }

  void pause(call_ptr const& one, timer::time_point until) {
    auto woken = [self = shared_from_this(), one](error_code) { self->perform(one, one->fsm->time_passed(self->time_->now())); };
    time_->async_wait_until(until, boost::asio::bind_cancellation_slot(
                                       one->withdraw.slot(), boost::asio::bind_executor(strand_, std::move(woken))));
  }

  void send(call_ptr const& one, ticket_step what, timer::time_point latest) {
    auto const now = time_->now();
    auto const allocates = what == ticket_step::allocate;
    auto const wait = allocates ? std::max(one->fsm->wait_until() - now, std::chrono::nanoseconds{0}) : std::chrono::nanoseconds{0};
    auto request = allocates ? allocate_exchange(one->body, one->out.id, one->claim_ttl, wait)
                             : claim_exchange(what, one->ns, one->out.id, one->to);
    auto const deadline = std::min(now + wait + options_.try_time, latest);
    // So that it is the server who says what became of it.
    auto const patience = std::max((deadline - now - wait) / 10 * 9, std::chrono::nanoseconds{std::chrono::milliseconds{1}});
    if (allocates) request.headers.emplace_back("Grpc-Timeout", grpc_timeout_text(patience));
    request.deadline = deadline;
    ++one->out.tries;
    auto const& at = options_.endpoints[one->endpoint];
    one->out.endpoint = at.host + ":" + std::to_string(at.port);
    auto heard = [self = shared_from_this(), one, what, from = one->endpoint](error_code ec, client_response const& answer) {
      self->answered(one, what, from, ec, answer);
    };
    clients_[one->endpoint]->async_request(
        std::move(request),
        boost::asio::bind_cancellation_slot(one->withdraw.slot(), boost::asio::bind_executor(strand_, std::move(heard))));
  }

  void answered(call_ptr const& one, ticket_step what, std::size_t endpoint, error_code ec, client_response const& answer) {
    auto const told = one->out.server == nullptr || one->claim != ticket_step::allocate ? std::string{} : one->out.server->meta.name.str();
    auto news = what == ticket_step::allocate ? judge_allocation(ec, answer, one->ns, options_.gates, options_.exhausted_codes)
                                              : judge_claim(ec, answer, one->ns, told);
    if (!ec && news.answer != ticket_answer::unavailable) preferred_ = endpoint;
    one->out.code = news.code;
    one->out.message = std::move(news.message);
    one->out.not_undone = std::move(news.not_undone);
    // A confirmation tells less of the server than the allocation did.
    auto const keeps = what != ticket_step::allocate && one->out.server != nullptr;
    if (news.server != nullptr && !keeps) one->out.server = std::move(news.server);
    if (news.answer == ticket_answer::missing && what == ticket_step::confirm) one->out.message = "the claim is not known, or over";
    perform(one, one->fsm->answered(news.answer, time_->now(), random_->unit(), news.retry_after));
  }

  boost::asio::strand<boost::asio::any_io_executor> strand_;
  boost::asio::any_completion_executor own_;
  timer* time_;
  random_source* random_;
  matchmaker_client_options options_;
  std::vector<std::unique_ptr<pooled_http_client>> clients_;
  std::unordered_set<call_ptr> under_way_;
  std::size_t preferred_{0};
  bool shut_{false};
};

}  // namespace detail

AGONES_ALLOC_DECL matchmaker_client::matchmaker_client(boost::asio::any_io_executor executor,
                                                       std::shared_ptr<credentials_provider> credentials, timer& time,
                                                       random_source& random, matchmaker_client_options options)
    : core_{std::make_shared<detail::matchmaker_core>(std::move(executor), std::move(credentials), time, random, std::move(options))} {}
AGONES_ALLOC_DECL matchmaker_client::~matchmaker_client() { close(); }
AGONES_ALLOC_DECL void matchmaker_client::close() { core_->shut(); }

AGONES_ALLOC_DECL void matchmaker_client::allocate(ticket wish, handler done) {
  auto const one = std::make_shared<detail::matchmaker_call>(std::move(done));
  core_->submit(one, [wish = std::move(wish)](detail::matchmaker_core& core, detail::matchmaker_core::call_ptr const& c) mutable {
    core.allocate(c, std::move(wish));
  });
}

AGONES_ALLOC_DECL void matchmaker_client::claim(ticket_step what, release_to to, std::string ns, std::string id,
                                                std::chrono::nanoseconds timeout, handler done) {
  auto const one = std::make_shared<detail::matchmaker_call>(std::move(done));
  one->claim = what;
  one->to = to;
  one->ns = std::move(ns);
  core_->submit(one, [id = std::move(id), timeout](detail::matchmaker_core& core, detail::matchmaker_core::call_ptr const& c) mutable {
    core.ask_for_claim(c, std::move(id), timeout);
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
