#pragma once

#include <agones_alloc/beast/client/client_connection.hpp>

#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

// The most one read takes. TLS hands out a record at a time, of at most 16 KiB.
inline constexpr std::size_t read_bytes = 16U * 1024U;

AGONES_ALLOC_DECL void client_connection::serve(std::shared_ptr<client_exchange> exchange) {
  exchange_ = std::move(exchange);
  parser_.emplace(exchange_->head_only, settings_->options.limits.header_bytes, exchange_->body_bytes);
  answered_ = false;
  taken_ = true;
  writing_ = true;
  enter(phase::sending, settings_->options.times.write);
  socket_.write(boost::asio::buffer(exchange_->wire),
                [self = shared_from_this(), sent = exchange_](error_code ec, std::size_t size) {
                  self->writing_ = false;
                  if (self->exchange_ == sent) self->on_written(ec, size);
                });
}

AGONES_ALLOC_DECL void client_connection::on_written(error_code ec, std::size_t size) {
  if (ec) {
    write_failed_ = true;
    if (size == 0 && !socket_.is_tls()) {
      taken_ = false;
      return fail(errc::unavailable, true);
    }
    // The answer may be there nevertheless: a server that refuses early closes early.
  }
  if (phase_ == phase::sending) enter(phase::waiting, settings_->options.times.first_byte);
}

AGONES_ALLOC_DECL void client_connection::read() {
  if (reading_) return;
  reading_ = true;
  auto const room = std::min(read_bytes, buffer_.max_size() - buffer_.size());
  socket_.read_some(buffer_.prepare(room), [self = shared_from_this()](error_code ec, std::size_t size) {
    self->reading_ = false;
    if (self->phase_ != phase::closed) self->on_read(ec, size);
  });
}

AGONES_ALLOC_DECL void client_connection::on_read(error_code ec, std::size_t size) {
  if (!exchange_) return leave();
  if (ec) return on_lost(ec);
  buffer_.commit(size);
  answered_ = true;
  advance();
}

AGONES_ALLOC_DECL void client_connection::on_lost(error_code ec) {
  if (ec == boost::asio::error::eof && parser_->is_header_done()) {
    // A body without a length ends with the connection; any other is cut.
    error_code failed;
    parser_->put_eof(failed);
    if (!failed && parser_->is_done()) {
      write_failed_ = true;  // no further use
      return advance();
    }
  }
  if (!served_ && !answered_ && is_handshake_alert(ec)) taken_ = false;
  fail(errc::unavailable, true);
}

// Eats the buffer, past interim answers.
AGONES_ALLOC_DECL auto client_connection::parse() -> error_code {
  namespace http = boost::beast::http;
  while (buffer_.size() != 0 && !parser_->is_done()) {
    error_code ec;
    buffer_.consume(parser_->put(buffer_.data(), ec));
    if (ec == http::error::need_more) break;
    if (ec == http::error::header_limit || ec == http::error::body_limit) return errc::limit_exceeded;
    if (ec) return errc::malformed;
    if (parser_->is_done() && parser_->interim()) {
      if (parser_->head.status == 101) return errc::malformed;  // nobody asked for another protocol
      parser_.emplace(exchange_->head_only, settings_->options.limits.header_bytes, exchange_->body_bytes);
    }
  }
  if (!parser_->is_done() && buffer_.size() == buffer_.max_size()) return errc::limit_exceeded;
  return {};
}

// Goes on with what the buffer and the parser hold.
AGONES_ALLOC_DECL void client_connection::advance() {
  if (auto const ec = parse()) return fail(ec, false);
  auto const& times = settings_->options.times;
  bool const head_done = parser_->is_header_done() && !parser_->interim();
  if (!exchange_->streamed) {
    if (parser_->is_done()) return finish(true);
    if (head_done && phase_ != phase::receiving) enter(phase::receiving, times.body);
    return read();
  }
  if (!head_done) return read();
  auto const exchange = exchange_;
  if (phase_ == phase::receiving) {
    if (!parser_->body.empty()) {
      enter(phase::paused, std::chrono::hours{24});
      return exchange->on_body(parser_->body);
    }
    if (parser_->is_done()) return finish(true);
    return read();
  }
  if (phase_ == phase::paused) return;
  enter(phase::paused, std::chrono::hours{24});
  exchange->on_head(parser_->head);
}

AGONES_ALLOC_DECL void client_connection::resume() {
  auto const self = shared_from_this();
  enter(phase::receiving, exchange_->silence);
  advance();
}

AGONES_ALLOC_DECL auto client_connection::take_response() -> client_response {
  client_response out;
  if (!parser_ || !parser_->is_header_done() || parser_->interim()) return out;
  static_cast<response_head&>(out) = parser_->head;
  if (!exchange_->streamed) out.body = std::move(parser_->body);
  return out;
}

AGONES_ALLOC_DECL void client_connection::finish(bool reusable) {
  auto const self = shared_from_this();
  auto const owner = owner_.lock();
  reusable = owner && reusable && parser_->keep_alive() && buffer_.size() == 0 && !writing_ && !write_failed_;
  auto response = take_response();
  auto const exchange = std::move(exchange_);
  exchange_.reset();
  parser_.reset();
  if (reusable) {
    served_ = true;
    enter(phase::resting, settings_->options.times.idle);
    read();
    owner->released(*this);
  } else {
    leave();
  }
  exchange->on_end({{}, true, false}, std::move(response));
}

AGONES_ALLOC_DECL void client_connection::leave() {
  auto const self = shared_from_this();
  close();
  if (auto const owner = owner_.lock()) owner->closed(*this);
}

AGONES_ALLOC_DECL void client_connection::fail(error_code ec, bool lost) {
  auto const self = shared_from_this();
  auto response = take_response();
  auto const exchange = std::move(exchange_);
  leave();
  exchange->on_end({ec, taken_, lost && served_ && !answered_}, std::move(response));
}

AGONES_ALLOC_DECL void client_connection::on_alarm() {
  switch (phase_) {
    case phase::closed: return;
    case phase::connecting:
      return attempts_.size() == addresses_.size() ? fail_to_open(boost::asio::error::timed_out) : connect_next();
    case phase::resolving:
    case phase::securing: return fail_to_open(boost::asio::error::timed_out);
    case phase::resting: return leave();
    case phase::sending:
    case phase::waiting:
    case phase::receiving:
    case phase::paused: break;
  }
  bool const patience_over = settings_->time->now() >= exchange_->deadline;
  fail(patience_over ? errc::deadline_exceeded : errc::unavailable, false);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
