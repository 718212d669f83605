#include "grpc_serving.hpp"
#include "remote_settings.hpp"

#include <agones_alloc/grpc/allocation_front_end.hpp>
#include <agones_alloc/grpc/grpc_fleet_feeds.hpp>
#include <agones_alloc/grpc/grpc_listener.hpp>
#include <agones_alloc/grpc/grpc_remote_allocator.hpp>
#include <agones_alloc/grpc/health_probe.hpp>
#include <agones_alloc/grpc/information_front_end.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <grpc/support/log.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

namespace {

/// gRPC writes to standard error by itself, and has one place in the process for all its words.
std::atomic<logger*> grpc_words{nullptr};

void take_grpc_words(gpr_log_func_args* said) {
  auto* const to = grpc_words.load();
  if (to == nullptr) return;
  // Handshakes that fail are everyday, whoever scans ports, and errors in gRPC's eyes.
  to->log(severity::debug, "gRPC", {{"detail", said->message}});
}

/// While there is one, the log has what gRPC says. Whoever uses gRPC has one; made and destroyed on the server's thread.
class grpc_ear {
 public:
  explicit grpc_ear(logger& log) {
    ++count();
    grpc_words = &log;
    gpr_set_log_function(&take_grpc_words);
  }
  ~grpc_ear() {
    if (--count() == 0) grpc_words = nullptr;
  }
  grpc_ear(grpc_ear const&) = delete;
  auto operator=(grpc_ear const&) -> grpc_ear& = delete;

 private:
  static auto count() -> int& {
    static int ears = 0;
    return ears;
  }
};

/// A part whose gRPC is heard.
template <class Part>
struct heard {
  template <class... Arguments>
  explicit heard(logger& log, Arguments&&... arguments) : ear{log}, part{std::forward<Arguments>(arguments)...} {}
  grpc_ear ear;
  Part part;
};

auto stream_bounds(server_options const& options) -> fleets_options {
  fleets_options out;
  out.streams = options.directory.streams;
  out.streams_per_caller = options.directory.streams_per_caller;
  out.heartbeat = options.directory.heartbeat;
  out.stream_time = options.directory.stream_time;
  return out;
}

auto listener_options(server_options const& options, bool information) -> grpc_listener_options {
  grpc_listener_options out;
  out.information = information;
  out.reflection = options.grpc.reflection;
  out.message_bytes = options.limits.body_bytes;
  out.calls = options.max_allocations;
  return out;
}

class serving final : public grpc_serving {
 public:
  serving(server_options const& options, front_end_options const& front_end, grpc_parts const& parts)
      : options_{options}, parts_{parts}, ear_{parts.log}, allocation_{parts.backend, parts.time, front_end} {
    if (parts.directory != nullptr) information_.emplace(*parts.directory, parts.time, front_end, stream_bounds(options));
  }
  ~serving() override { listener_.reset(); }

  void add_routes(http_router& to) override {
    to.add(std::string{allocation_front_end::path}, allocation_);
    if (!information_) return;
    to.add(std::string{information_front_end::inform_path}, *information_);
    to.add(std::string{information_front_end::watch_path}, *information_);
  }

  auto listen(http_handler& gate, tls_server* tls, client_verification clients, http_observer& observer) -> bool override {
    listener_ = std::make_unique<grpc_listener>(parts_.executor, gate, parts_.time, listener_options(options_, information_.has_value()), &observer);
    if (tls != nullptr) listener_->use(*tls, clients);
    auto const ec = listener_->listen(options_.grpc.address, options_.grpc.port);
    if (!ec) return true;
    std::cerr << "agones-alloc-server: --grpc-listen " << options_.grpc.address << ":" << options_.grpc.port << ": "
              << (ec == errc::invalid_request ? "not a numeric address" : ec.message()) << '\n';
    return false;
  }

  void start(std::function<bool()> is_serving) override {
    serving_ = std::move(is_serving);
    look();
  }
  void stop_serving() override {
    looking_.emit(boost::asio::cancellation_type::terminal);
    listener_->set_serving(false);
  }
  void drain(timer::time_point deadline, std::function<void(bool)> then) override {
    listener_->async_drain(deadline, [then = std::move(then)](error_code ec) { then(!ec); });
  }
  auto port() const -> std::uint16_t override { return listener_->port(); }

 private:
  void look() {
    listener_->set_serving(serving_());
    parts_.time.async_wait_until(parts_.time.now() + std::chrono::milliseconds{200},
                                 boost::asio::bind_cancellation_slot(looking_.slot(), [this](error_code ec) {
                                   if (!ec) look();
                                 }));
  }

  server_options const& options_;
  grpc_parts parts_;
  grpc_ear ear_;
  allocation_front_end allocation_;
  std::optional<information_front_end> information_;  ///< where there is a directory
  std::unique_ptr<grpc_listener> listener_;
  std::function<bool()> serving_;
  boost::asio::cancellation_signal looking_;
};

}  // namespace

auto make_grpc(server_options const& options, front_end_options const& front_end, grpc_parts const& parts)
    -> std::unique_ptr<grpc_serving> {
  if (!options.grpc.used()) return nullptr;
  return std::make_unique<serving>(options, front_end, parts);
}

auto make_grpc_remote(boost::asio::any_io_executor executor, secret_source* secrets, timer& time,
                      remote_cluster_settings const& settings, logger& log, metrics& counts) -> std::shared_ptr<connected_remote> {
  auto const made = std::make_shared<heard<grpc_remote_allocator>>(log, std::move(executor), secrets, time,
                                                                   remote_settings<grpc_remote_options>(settings, log, counts));
  return {made, &made->part};
}

auto make_grpc_fleet_feeds(secret_source* secrets, timer& time, logger& log) -> std::shared_ptr<remote_feeds> {
  auto const made = std::make_shared<heard<grpc_fleet_feeds>>(log, secrets, time);
  return {made, &made->part};
}

auto make_health_probe(boost::asio::any_io_executor executor, timer& time, readiness_probe& others, logger& log)
    -> std::shared_ptr<readiness_probe> {
  auto const made = std::make_shared<heard<health_probe>>(log, std::move(executor), time, &others);
  return {made, &made->part};
}

auto grpc_problem() -> std::string { return {}; }

auto grpc_namespace_of(http_request const& request, front_end_options const& options) -> std::optional<std::string> {
  if (auto space = information_namespace_of(request)) return space;
  return allocation_namespace_of(request, options);
}

}  // namespace agones_alloc_server
