#pragma once

#include <agones_alloc/beast/http_connection.hpp>
#include <agones_alloc/beast/http_listener.hpp>
#include <agones_alloc/beast/tls/tls_server.hpp>
#include <agones_alloc/beast/tls/tls_stream.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <unordered_map>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

class http_listener_state final : public http_session_owner, public std::enable_shared_from_this<http_listener_state> {
 public:
  using tcp = boost::asio::ip::tcp;
  using drain_handler = boost::asio::any_completion_handler<void(error_code)>;

  explicit http_listener_state(boost::asio::any_io_executor executor)
      : executor_{std::move(executor)}, acceptor_{executor_} {}

  tls_server* tls{nullptr};  ///< null: plain HTTP

  auto listen(std::string const& address, std::uint16_t port) -> error_code {
    error_code ec;
    auto const ip = boost::asio::ip::make_address(address, ec);
    if (ec) return errc::invalid_request;
    tcp::endpoint const endpoint{ip, port};
    acceptor_.open(endpoint.protocol(), ec);
    if (!ec) acceptor_.set_option(tcp::acceptor::reuse_address{true}, ec);
    if (!ec) acceptor_.bind(endpoint, ec);
    if (!ec) acceptor_.listen(limits.backlog, ec);
    if (!ec) port_ = acceptor_.local_endpoint(ec).port();
    if (ec) {
      error_code ignored;
      acceptor_.close(ignored);
      return ec;
    }
    accept();
    return {};
  }

  auto port() const noexcept -> std::uint16_t { return port_; }
  auto connections() const noexcept -> std::size_t { return sessions_.size(); }

  void closed(http_session& session) override {
    sessions_.erase(&session);
    report_connections();
    if (sessions_.empty() && draining) finish_drain();
  }

  auto date() -> std::string_view override {
    auto const now = std::chrono::floor<std::chrono::seconds>(time->wall_now());
    if (date_.empty() || now != date_of_) {
      date_of_ = now;
      date_ = http_date(now);
    }
    return date_;
  }

  void drain(timer::time_point deadline, drain_handler handler) {
    on_drained_ = std::make_unique<drain_handler>(std::move(handler));
    drain_result_ = {};
    draining = true;
    stop_accepting();
    for (auto const& session : sessions()) session->drain();
    if (!on_drained_) return;
    if (sessions_.empty()) return finish_drain();
    time->async_wait_until(deadline, boost::asio::bind_cancellation_slot(
                                         drain_timing_.slot(),
                                         boost::asio::bind_executor(executor_, [self = shared_from_this()](error_code ec) {
                                           if (ec || !self->on_drained_) return;
                                           self->cut_answered();
                                           if (self->on_drained_) self->cut_all(errc::deadline_exceeded);
                                         })));
  }

  void cut_all(error_code why) {
    stop_accepting();
    drain_result_ = why;
    for (auto const& session : sessions()) session->cut();
    finish_drain();
  }

 private:
  auto sessions() const -> std::vector<std::shared_ptr<http_session>> {
    std::vector<std::shared_ptr<http_session>> out;
    out.reserve(sessions_.size());
    for (auto const& [key, weak] : sessions_) {
      if (auto session = weak.lock()) out.push_back(std::move(session));
    }
    return out;
  }

  /// Connections that only wait for their client to read its answer: ending them cuts no request.
  void cut_answered() {
    for (auto const& session : sessions()) session->drain();
  }

  void report_connections() {
    if (observer != nullptr) observer->connections(sessions_.size());
  }

  void stop_accepting() {
    error_code ignored;
    acceptor_.close(ignored);
    accept_timing_.emit(boost::asio::cancellation_type::terminal);
  }

  void accept() {
    acceptor_.async_accept([self = shared_from_this()](error_code ec, tcp::socket socket) {
      if (!self->acceptor_.is_open()) return;
      // Silent clients must not lock others out, whichever limit they reach first: ours or the system's.
      bool const crowded = ec == boost::system::errc::too_many_files_open ||
                           ec == boost::system::errc::too_many_files_open_in_system ||
                           ec == boost::system::errc::no_buffer_space;
      if (crowded && self->make_room("no descriptors left")) return self->accept();
      if (ec) return self->accept_later(ec);
      self->welcome(std::move(socket));
      self->accept();
    });
  }

  // Out of descriptors or memory: trying at once would only burn time.
  void accept_later(error_code ec) {
    if (log != nullptr) log->log(severity::error, "cannot accept a connection", {{"error", ec.message()}});
    time->async_wait_until(time->now() + std::chrono::milliseconds{100},
                           boost::asio::bind_cancellation_slot(
                               accept_timing_.slot(),
                               boost::asio::bind_executor(executor_, [self = shared_from_this()](error_code failed) {
                                 if (!failed && self->acceptor_.is_open()) self->accept();
                               })));
  }

  void welcome(tcp::socket socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay{true}, ignored);
    bool const full = sessions_.size() >= limits.connections && !make_room("too many connections");
    if (full && observer != nullptr) observer->connection_cut("too many connections");
    // Refusals are bounded too: past twice the limit even they are dropped unanswered.
    if (full && (tls != nullptr || sessions_.size() >= 2 * limits.connections)) return;
    if (tls != nullptr) {
      auto const made =
          std::make_shared<http_connection<tls_stream>>(tls_stream{std::move(socket), tls->current()}, shared_from_this());
      sessions_.emplace(made.get(), made);
      report_connections();
      return made->start();
    }
    auto const made = std::make_shared<http_connection<tcp::socket>>(std::move(socket), shared_from_this());
    sessions_.emplace(made.get(), made);
    report_connections();
    if (full) {
      made->start_refusing(503, "too many connections");
    } else {
      made->start();
    }
  }

  /// Ends the connection that has kept the server waiting longest: silent clients cannot lock others out.
  auto make_room(std::string_view why) -> bool {
    auto* const longest = waited_longest_for();
    if (longest == nullptr) return false;
    if (observer != nullptr) observer->connection_cut(why);
    longest->cut();
    return true;
  }

  void finish_drain() {
    if (!on_drained_) return;
    drain_timing_.emit(boost::asio::cancellation_type::terminal);
    boost::asio::post(executor_, [handler = std::move(on_drained_), executor = executor_, ec = drain_result_]() mutable {
      auto const target = boost::asio::get_associated_executor(*handler, executor);
      boost::asio::dispatch(target, boost::asio::append(std::move(*handler), ec));
    });
  }

  boost::asio::any_io_executor executor_;
  tcp::acceptor acceptor_;
  std::unordered_map<http_session*, std::weak_ptr<http_session>> sessions_;
  boost::asio::cancellation_signal accept_timing_;
  boost::asio::cancellation_signal drain_timing_;
  std::unique_ptr<drain_handler> on_drained_;
  error_code drain_result_;
  std::string date_;
  std::chrono::sys_seconds date_of_{};
  std::uint16_t port_{0};
};

}  // namespace detail

AGONES_ALLOC_DECL http_listener::http_listener(boost::asio::any_io_executor executor, http_handler& handler, timer& time,
                                               http_limits limits, logger* log, http_observer* observer)
    : state_{std::make_shared<detail::http_listener_state>(std::move(executor))} {
  if (auto const* bad = first_bad_field(limits)) {
    throw std::invalid_argument{std::string{"http_limits::"} + bad + " is out of range"};
  }
  state_->limits = limits;
  state_->answerer = &handler;
  state_->time = &time;
  state_->log = log;
  state_->observer = observer;
}

AGONES_ALLOC_DECL http_listener::~http_listener() { close(); }

AGONES_ALLOC_DECL void http_listener::use(tls_server& tls) { state_->tls = &tls; }

AGONES_ALLOC_DECL auto http_listener::listen(std::string const& address, std::uint16_t port) -> error_code {
  return state_->listen(address, port);
}

AGONES_ALLOC_DECL auto http_listener::port() const noexcept -> std::uint16_t { return state_->port(); }
AGONES_ALLOC_DECL auto http_listener::connections() const noexcept -> std::size_t { return state_->connections(); }
AGONES_ALLOC_DECL void http_listener::close() { state_->cut_all(errc::cancelled); }
AGONES_ALLOC_DECL void http_listener::drain(timer::time_point deadline, drain_handler handler) {
  state_->drain(deadline, std::move(handler));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
