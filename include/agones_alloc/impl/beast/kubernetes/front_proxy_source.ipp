#pragma once

#include <agones_alloc/beast/kubernetes/front_proxy_source.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

class front_proxy_source_state final : public std::enable_shared_from_this<front_proxy_source_state> {
 public:
  front_proxy_source_state(boost::asio::any_io_executor executor, http_client& client, timer& time,
                           std::function<void(front_proxy_rules const&)> on_change, front_proxy_source_options options)
      : executor_{std::move(executor)},
        client_{&client},
        time_{&time},
        on_change_{std::move(on_change)},
        options_{options} {
    auto const shortest = std::min({options_.look_every, options_.retry_after, options_.request_time});
    if (shortest <= std::chrono::nanoseconds{0}) {
      throw std::invalid_argument{"front_proxy_source_options: each time must be positive"};
    }
  }

  void look() {
    client_request request;
    request.target = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    request.headers.emplace_back("Accept", "application/json");
    request.deadline = time_->now() + options_.request_time;
    request.body_limit = std::size_t{2} << 20U;
    auto done = [self = shared_from_this()](error_code ec, client_response const& answer) {
      if (!self->stopped_) self->look_later(self->take(ec, answer));
    };
    client_->async_request(std::move(request),
                           boost::asio::bind_cancellation_slot(
                               stopping_.slot(), boost::asio::bind_executor(executor_, std::move(done))));
  }

  void stop() {
    stopped_ = true;
    stopping_.emit(boost::asio::cancellation_type::terminal);
  }

  auto known() const noexcept -> bool { return rules_.has_value(); }

 private:
  auto take(error_code ec, client_response const& answer) -> bool {
    std::string problem;
    std::optional<front_proxy_rules> next;
    if (ec) {
      problem = ec.message();
    } else if (answer.status != 200) {
      problem = "HTTP status " + std::to_string(answer.status);
    } else {
      next = read_front_proxy_rules(answer.body, problem);
    }
    if (next && next->authorities.empty()) {
      problem = "the API server has no front proxy: requestheader-client-ca-file is missing";
    }
    if (!problem.empty() && problem != last_problem_ && options_.log != nullptr) {
      options_.log->log(severity::warning, "cannot read who the front proxy is",
                        {{"config_map", "kube-system/extension-apiserver-authentication"}, {"reason", problem}});
    }
    last_problem_ = problem;
    if (!problem.empty()) return false;
    if (rules_ != next) {
      rules_ = std::move(next);
      on_change_(*rules_);
    }
    return true;
  }

  void look_later(bool good) {
    time_->async_wait_until(
        time_->now() + (good ? options_.look_every : options_.retry_after),
        boost::asio::bind_cancellation_slot(
            stopping_.slot(), boost::asio::bind_executor(executor_, [self = shared_from_this()](error_code ec) {
              if (!ec && !self->stopped_) self->look();
            })));
  }

  boost::asio::any_io_executor executor_;
  http_client* client_;
  timer* time_;
  std::function<void(front_proxy_rules const&)> on_change_;
  front_proxy_source_options options_;
  std::optional<front_proxy_rules> rules_;
  std::string last_problem_;
  boost::asio::cancellation_signal stopping_;
  bool stopped_{false};
};

}  // namespace detail

AGONES_ALLOC_DECL front_proxy_source::front_proxy_source(boost::asio::any_io_executor executor, http_client& client,
                                                         timer& time,
                                                         std::function<void(front_proxy_rules const&)> on_change,
                                                         front_proxy_source_options options)
    : state_{std::make_shared<detail::front_proxy_source_state>(std::move(executor), client, time, std::move(on_change),
                                                                options)} {}
AGONES_ALLOC_DECL front_proxy_source::~front_proxy_source() { state_->stop(); }
AGONES_ALLOC_DECL void front_proxy_source::start() { state_->look(); }
AGONES_ALLOC_DECL void front_proxy_source::stop() { state_->stop(); }
AGONES_ALLOC_DECL auto front_proxy_source::known() const noexcept -> bool { return state_->known(); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
