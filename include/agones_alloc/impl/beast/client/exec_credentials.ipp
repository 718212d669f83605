#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/beast/client/child_process.hpp>
#include <agones_alloc/beast/client/exec_credentials.hpp>
#include <agones_alloc/json/exec_credential.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <cstdint>
#include <list>
#include <optional>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

class exec_credentials_core : public std::enable_shared_from_this<exec_credentials_core> {
 public:
  using handler = credentials_provider::handler;

  exec_credentials_core(boost::asio::any_io_executor executor, timer& time, yaml::kube_target const& target,
                        std::shared_ptr<credentials_provider> base, exec_limits limits, logger* log)
      : executor_{std::move(executor)},
        time_{&time},
        plugin_{*target.exec},
        server_{(target.tls ? "https://" : "http://") +
                (target.host.find(':') == std::string::npos ? target.host : "[" + target.host + "]") + ":" +
                std::to_string(target.port) + target.base_path},
        base_{std::move(base)},
        limits_{limits},
        log_{log} {}

  auto current() -> credentials_ptr {
    if (!printed_) return nullptr;
    // Counted in seconds: a far expiry does not fit nanoseconds.
    auto const then = std::chrono::ceil<std::chrono::seconds>(time_->wall_now() + limits_.early);
    if (printed_->expires && then >= *printed_->expires) return nullptr;
    auto const base = base_->current();
    if (!base) return nullptr;
    if (!made_ || base != made_of_) combine(base);
    return made_;
  }

  void fetch(credentials_ptr const& refused, handler done) {
    auto const now = current();
    bool const just_ran = printed_ && time_->now() < started_ + limits_.pause;
    if (now && (now != refused || just_ran)) return complete_one({}, now, std::move(done));
    auto const number = ++number_;
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    waiting_.emplace_back(number, std::make_unique<handler>(std::move(done)));
    if (slot.is_connected()) {
      slot.assign([weak = weak_from_this(), executor = executor_, number](boost::asio::cancellation_type type) {
        if ((type & boost::asio::cancellation_type::terminal) == boost::asio::cancellation_type::none) return;
        boost::asio::dispatch(executor, [weak, number] {
          if (auto const self = weak.lock()) self->cancel(number);
        });
      });
    }
    if (!running_ && !base_pending_) start();
  }

  void shut() {
    running_.reset();
    complete_all(errc::cancelled, {});
  }

 private:
  void combine(credentials_ptr const& base) {
    auto made = std::make_shared<client_credentials>(*base);
    if (!printed_->token.empty()) made->authorization = "Bearer " + printed_->token;
    if (!printed_->certificate_pem.empty()) {
      made->tls.certificate_pem = printed_->certificate_pem;
      made->tls.key_pem = printed_->key_pem;
    }
    made_of_ = base;
    made_ = std::move(made);
  }

  // The authority first: the plugin may want to know it, and without it nothing it prints is of use.
  void start() {
    if (auto const base = base_->current()) return run(*base);
    base_pending_ = true;
    base_->async_fetch({}, [weak = weak_from_this()](error_code ec, credentials_ptr base) {
      auto const self = weak.lock();
      if (!self) return;
      self->base_pending_ = false;
      if (ec || !base) return self->complete_all(errc::unavailable, {});
      self->run(*base);
    });
  }

  void run(client_credentials const& base) {
    auto const now = time_->now();
    bool const too_soon = started_ != timer::time_point::min() && now < started_ + limits_.pause;
    if (too_soon) return complete_all(errc::unavailable, {});
    started_ = now;
    exec_cluster const cluster{server_, base.tls.server_name, base.tls.ca_pem, base.tls.insecure_skip_verify};
    child_command command{plugin_.command, plugin_.args, plugin_.env};
    command.env.emplace_back("KUBERNETES_EXEC_INFO",
                             write_exec_info(plugin_.api_version, plugin_.provide_cluster_info ? &cluster : nullptr));
    auto done = [weak = weak_from_this()](std::string problem, std::string output) {
      if (auto const self = weak.lock()) self->on_run(std::move(problem), std::move(output));
    };
    child_limits const bounds{limits_.time, limits_.output_bytes};
    running_ = std::make_unique<child_process>(executor_, *time_, command, bounds, std::move(done));
  }

  void on_run(std::string problem, std::string output) {
    running_.reset();
    if (problem.empty()) {
      auto read = read_exec_credential(output, plugin_.api_version);
      if (!read) {
        problem = "printed no credential: " + to_string(read.error());
      } else {
        printed_ = std::move(*read);
        made_.reset();
        if (!current()) problem = "printed a credential that has expired";
      }
    }
    if (problem.empty()) return complete_all({}, current());
    if (log_ != nullptr) {
      log_->log(severity::warning, "credential plugin failed",
                {{"plugin", plugin_.command}, {"reason", problem}, {"hint", plugin_.install_hint}});
    }
    complete_all(errc::unavailable, {});
  }

  void cancel(std::uint64_t number) {
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
      if (at->first != number) continue;
      auto const done = std::move(at->second);
      waiting_.erase(at);
      return complete_one(errc::cancelled, {}, std::move(*done));
    }
  }

  void complete_all(error_code ec, credentials_ptr const& result) {
    auto const waiting = std::exchange(waiting_, {});
    for (auto const& [number, done] : waiting) complete_one(ec, result, std::move(*done));
  }

  void complete_one(error_code ec, credentials_ptr result, handler done) {
    boost::asio::post(executor_, [own = boost::asio::any_completion_executor{executor_}, done = std::move(done), ec,
                                  result = std::move(result)]() mutable {
      detail::complete(own, std::move(done), ec, std::move(result));
    });
  }

  boost::asio::any_io_executor executor_;
  timer* time_;
  yaml::exec_plugin plugin_;
  std::string server_;
  std::shared_ptr<credentials_provider> base_;
  exec_limits limits_;
  logger* log_;
  std::optional<exec_credential> printed_;
  credentials_ptr made_;     ///< of what was printed and of
  credentials_ptr made_of_;  ///< this
  std::list<std::pair<std::uint64_t, std::unique_ptr<handler>>> waiting_;
  std::unique_ptr<child_process> running_;
  timer::time_point started_{timer::time_point::min()};
  std::uint64_t number_{0};
  bool base_pending_{false};
};

}  // namespace detail

AGONES_ALLOC_DECL exec_credentials::exec_credentials(boost::asio::any_io_executor executor, timer& time,
                                                     yaml::kube_target const& target,
                                                     std::shared_ptr<credentials_provider> base, exec_limits limits,
                                                     logger* log)
    : core_{std::make_shared<detail::exec_credentials_core>(std::move(executor), time, target, std::move(base), limits,
                                                            log)} {}

AGONES_ALLOC_DECL exec_credentials::~exec_credentials() { core_->shut(); }
AGONES_ALLOC_DECL auto exec_credentials::current() -> credentials_ptr { return core_->current(); }
AGONES_ALLOC_DECL void exec_credentials::do_fetch(credentials_ptr refused, handler done) {
  core_->fetch(refused, std::move(done));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
