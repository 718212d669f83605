#pragma once

#include <agones_alloc/beast/client/client_connection.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <cstddef>
#include <iterator>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

AGONES_ALLOC_DECL client_connection::client_connection(boost::asio::any_io_executor executor,
                                                       std::weak_ptr<connection_owner> owner,
                                                       std::shared_ptr<connection_settings const> settings,
                                                       std::shared_ptr<tls_context> context)
    : executor_{std::move(executor)},
      owner_{std::move(owner)},
      settings_{std::move(settings)},
      context_{std::move(context)},
      resolver_{executor_},
      socket_{executor_},
      alarm_{*settings_->time, executor_},
      buffer_{settings_->options.limits.header_bytes + 64U * 1024U} {}

AGONES_ALLOC_DECL void client_connection::open() {
  auto const& endpoint = settings_->endpoint;
  enter(phase::resolving, settings_->options.times.resolve);
  error_code ec;
  auto const address = boost::asio::ip::make_address(endpoint.host, ec);
  if (!ec) {
    auto const one = tcp::resolver::results_type::create(tcp::endpoint{address, endpoint.port}, endpoint.host, {});
    return on_resolved(one);
  }
  resolver_.async_resolve(endpoint.host, std::to_string(endpoint.port), tcp::resolver::numeric_service,
                          [self = shared_from_this()](error_code failed, tcp::resolver::results_type found) {
                            if (self->phase_ != phase::resolving) return;
                            if (failed) return self->fail_to_open(failed);
                            self->on_resolved(found);
                          });
}

AGONES_ALLOC_DECL void client_connection::on_resolved(tcp::resolver::results_type found) {
  addresses_ = std::move(found);
  connect_until_ = settings_->time->now() + settings_->options.times.connect;
  connect_next(boost::asio::error::host_not_found);
}

// An address that does not answer takes its part of the time, not that of the others.
AGONES_ALLOC_DECL void client_connection::connect_next(error_code last) {
  if (address_ == addresses_.size()) return fail_to_open(last);
  auto const left = static_cast<std::chrono::nanoseconds::rep>(addresses_.size() - address_);
  auto const number = ++address_;
  phase_ = phase::connecting;
  error_code ignored;
  socket_.tcp_socket().close(ignored);
  enter(phase::connecting, (connect_until_ - settings_->time->now()) / left);
  auto const& address = std::next(addresses_.begin(), static_cast<std::ptrdiff_t>(number - 1))->endpoint();
  socket_.tcp_socket().async_connect(address, [self = shared_from_this(), number](error_code ec) {
    if (self->phase_ != phase::connecting || self->address_ != number) return;
    if (ec) return self->connect_next(ec);
    self->on_connected();
  });
}

AGONES_ALLOC_DECL void client_connection::on_connected() {
  error_code ignored;
  socket_.tcp_socket().set_option(tcp::no_delay{true}, ignored);
  socket_.tcp_socket().set_option(tcp::socket::keep_alive{true}, ignored);
  if (!context_) return on_open();
  enter(phase::securing, settings_->options.times.handshake);
  auto const ec = socket_.secure(context_, [self = shared_from_this()](error_code failed) {
    if (self->phase_ != phase::securing) return;
    if (failed) return self->fail_to_open(failed);
    self->on_open();
  });
  if (!ec) return;
  boost::asio::post(executor_, [self = shared_from_this(), ec] {
    if (self->phase_ == phase::securing) self->fail_to_open(ec);
  });
}

AGONES_ALLOC_DECL void client_connection::on_open() {
  enter(phase::resting, settings_->options.times.idle);
  read();
  if (auto const owner = owner_.lock()) {
    owner->opened(*this);
  } else {
    close();
  }
}

AGONES_ALLOC_DECL void client_connection::fail_to_open(error_code ec) {
  std::string_view const what = phase_ == phase::resolving    ? "resolve"
                                : phase_ == phase::connecting ? "connect"
                                                              : "TLS handshake";
  auto reason = ec.message();
  if (phase_ == phase::securing) {
    if (auto const why = socket_.verification_problem(); !why.empty()) reason = why;
  }
  auto const self = shared_from_this();
  close();
  if (auto const owner = owner_.lock()) owner->open_failed(*this, ec, what, reason);
}

AGONES_ALLOC_DECL void client_connection::enter(phase next, std::chrono::nanoseconds time) {
  phase_ = next;
  auto until = settings_->time->now() + time;
  if (exchange_ && exchange_->deadline < until) until = exchange_->deadline;
  alarm_.set(until, shared_from_this());
}

AGONES_ALLOC_DECL void client_connection::close() {
  if (phase_ == phase::closed) return;
  phase_ = phase::closed;
  alarm_.stop();
  resolver_.cancel();
  socket_.close();
  exchange_.reset();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
