#pragma once

#include <agones_alloc/beast/client/client_connection.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <cstddef>
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
  auto const numeric = endpoint.addresses.empty() ? std::vector{endpoint.host} : endpoint.addresses;
  std::vector<tcp::endpoint> known;
  for (auto const& text : numeric) {
    error_code ec;
    auto const address = boost::asio::ip::make_address(text, ec);
    if (!ec) known.emplace_back(address, endpoint.port);
  }
  if (!known.empty()) return on_resolved(std::move(known));
  resolver_.async_resolve(endpoint.host, std::to_string(endpoint.port), tcp::resolver::numeric_service,
                          [self = shared_from_this()](error_code failed, tcp::resolver::results_type found) {
                            if (self->phase_ != phase::resolving) return;
                            if (failed) return self->fail_to_open(failed);
                            self->on_resolved({found.begin(), found.end()});
                          });
}

AGONES_ALLOC_DECL void client_connection::on_resolved(std::vector<tcp::endpoint> found) {
  if (found.empty()) return fail_to_open(boost::asio::error::host_not_found);
  addresses_ = std::move(found);
  if (auto const& last = *settings_->answered) {
    std::stable_partition(addresses_.begin(), addresses_.end(), [&last](auto const& one) { return one == *last; });
  }
  connect_until_ = settings_->time->now() + settings_->options.times.connect;
  connect_next();
}

// An address that does not answer must not hold up the others: each has its turn while those before go on.
AGONES_ALLOC_DECL void client_connection::connect_next() {
  auto const number = attempts_.size();
  auto const left = connect_until_ - settings_->time->now();
  auto const others = static_cast<std::chrono::nanoseconds::rep>(addresses_.size() - number - 1);
  attempts_.push_back(std::make_unique<tcp::socket>(executor_));
  enter(phase::connecting, others == 0 ? left : std::min(settings_->options.times.next_address, left / (others + 1)));
  attempts_.back()->async_connect(addresses_[number], [self = shared_from_this(), number](error_code ec) {
    if (self->phase_ == phase::connecting) self->on_attempt(number, ec);
  });
}

AGONES_ALLOC_DECL void client_connection::on_attempt(std::size_t number, error_code ec) {
  if (ec) {
    ++failed_;
    if (attempts_.size() != addresses_.size()) return connect_next();
    if (failed_ == attempts_.size()) fail_to_open(ec);
    return;
  }
  *settings_->answered = addresses_[number];
  socket_.tcp_socket() = std::move(*attempts_[number]);
  phase_ = phase::securing;  // the other attempts end
  attempts_.clear();
  on_connected();
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
  attempts_.clear();
  socket_.close();
  exchange_.reset();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
