#pragma once

#include <agones_alloc/beast/remote/detail/protocol_search.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <openssl/ssl.h>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

AGONES_ALLOC_DECL protocol_search::protocol_search(boost::asio::any_io_executor executor, timer& time, client_endpoint endpoint,
                                                   std::shared_ptr<secret_credentials> credentials,
                                                   std::chrono::nanoseconds within, std::function<void(protocol_found)> told)
    : executor_{std::move(executor)},
      time_{&time},
      endpoint_{std::move(endpoint)},
      credentials_{std::move(credentials)},
      within_{within},
      told_{std::move(told)} {}

AGONES_ALLOC_DECL void protocol_search::start() {
  time_->async_wait_until(time_->now() + within_,
                          boost::asio::bind_cancellation_slot(
                              timing_.slot(), boost::asio::bind_executor(executor_, [self = shared_from_this()](error_code ec) {
                                if (!ec) self->fail(self->used_ ? "no connection in time" : "no credentials in time");
                              })));
  if (auto now = credentials_->current()) return connect(std::move(now));
  fetch();
}

AGONES_ALLOC_DECL void protocol_search::stop() {
  told_ = nullptr;
  finish({});
}

inline void protocol_search::fetch() {
  credentials_->async_fetch(
      nullptr,
      boost::asio::bind_cancellation_slot(
          fetching_.slot(),
          boost::asio::bind_executor(executor_, [self = shared_from_this()](error_code ec, credentials_ptr found) {
            if (!self->told_) return;
            if (!ec && found) return self->connect(std::move(found));
            auto const& problem = self->credentials_->problem();
            self->fail(problem.empty() ? "no credentials" : problem, true);
          })));
}

inline void protocol_search::connect(credentials_ptr with) {
  used_ = std::move(with);
  std::string what;
  auto context = tls_context::make(used_->tls, endpoint_.host, what);
  static constexpr unsigned char offered[] = {2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  if (!context || SSL_CTX_set_alpn_protos((*context)->native().native_handle(), offered, sizeof offered) != 0) {
    return boost::asio::post(executor_, [self = shared_from_this(), what] { self->fail("credentials cannot be used: " + what, true); });
  }
  auto const settings = std::make_shared<connection_settings>();
  settings->endpoint = endpoint_;
  settings->time = time_;
  auto& times = settings->options.times;
  times.resolve = times.connect = times.handshake = times.idle = within_;
  connection_ = std::make_shared<client_connection>(executor_, weak_from_this(), settings, std::move(*context));
  connection_->open();
}

AGONES_ALLOC_DECL void protocol_search::opened(client_connection& open) {
  auto const spoken = open.protocol() == "h2" ? remote_protocol::grpc : remote_protocol::rest;
  finish({spoken, used_, {}, false});
}

AGONES_ALLOC_DECL void protocol_search::closed(client_connection&) { fail("the connection was lost"); }

AGONES_ALLOC_DECL void protocol_search::open_failed(client_connection&, error_code, std::string_view phase,
                                                    std::string_view reason) {
  fail(std::string{phase} + ": " + std::string{reason});
}

inline void protocol_search::fail(std::string problem, bool whole_cluster) {
  finish({std::nullopt, used_, std::move(problem), whole_cluster});
}

inline void protocol_search::finish(protocol_found found) {
  auto const self = shared_from_this();
  timing_.emit(boost::asio::cancellation_type::terminal);
  fetching_.emit(boost::asio::cancellation_type::terminal);
  if (auto const open = std::exchange(connection_, nullptr)) open->close();
  if (auto const told = std::exchange(told_, nullptr)) told(std::move(found));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
