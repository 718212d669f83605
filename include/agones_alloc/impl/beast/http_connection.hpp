// Bodies of http_connection, a template.
#pragma once

#include <agones_alloc/beast/http_connection.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include <algorithm>
#include <array>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

template <class Stream>
http_connection<Stream>::http_connection(Stream stream, std::shared_ptr<http_session_owner> owner)
    : stream_{std::move(stream)}, owner_{std::move(owner)}, buffer_{owner_->limits.header_bytes + 4096} {}

template <class Stream>
void http_connection<Stream>::start() {
  enter(phase::idle, owner_->limits.idle_time);
  watch_time();
  read();
}

template <class Stream>
void http_connection<Stream>::drain() {
  if (phase_ == phase::idle || phase_ == phase::lingering) cut();
}

template <class Stream>
void http_connection<Stream>::cut() {
  if (phase_ == phase::closed) return;
  auto const self = this->shared_from_this();
  auto const was = std::exchange(phase_, phase::closed);
  close_stream(stream_);
  owner_->closed(*this);
  timing_.emit(boost::asio::cancellation_type::terminal);
  if (was == phase::handling) leaving_.emit(boost::asio::cancellation_type::terminal);
}

template <class Stream>
void http_connection<Stream>::cut_for(std::string_view why) {
  if (owner_->observer != nullptr) owner_->observer->connection_cut(why);
  cut();
}

template <class Stream>
auto http_connection<Stream>::waiting_since() const noexcept -> timer::time_point {
  switch (phase_) {
    case phase::idle:
    case phase::header:
    case phase::body:
    case phase::lingering: return entered_;
    case phase::handling:
    case phase::writing:
    case phase::closed: break;
  }
  return timer::time_point::max();
}

template <class Stream>
void http_connection<Stream>::enter(phase next, std::chrono::nanoseconds time) {
  phase_ = next;
  entered_ = owner_->time->now();
  deadline_ = entered_ + time;
}

// One wait serves all phases: it sleeps for the shortest of the limits at most, and no phase's deadline is
// nearer than that when it is set, so no phase has to restart it.
template <class Stream>
void http_connection<Stream>::watch_time() {
  auto const wake = std::min(deadline_, owner_->time->now() + shortest_time(owner_->limits));
  owner_->time->async_wait_until(
      wake, boost::asio::bind_cancellation_slot(
                timing_.slot(),
                boost::asio::bind_executor(stream_.get_executor(), [self = this->shared_from_this()](error_code ec) {
                  if (self->phase_ == phase::closed || ec) return;
                  self->on_time();
                })));
}

template <class Stream>
void http_connection<Stream>::on_time() {
  if (owner_->time->now() >= deadline_) {
    if (continuing_) return cut_for("slow reader");
    switch (phase_) {
      case phase::header:
      case phase::body: {
        if (owner_->observer != nullptr) owner_->observer->connection_cut("slow request");
        auto out = text_response(408, phase_ == phase::header ? "the request's header took too long to arrive"
                                                              : "the request's body took too long to arrive");
        out.route = "protocol";
        out.close = true;
        respond(std::move(out));
        break;
      }
      case phase::idle: return cut_for("idle");
      case phase::writing: return cut_for("slow reader");
      case phase::lingering: return cut();
      case phase::handling: enter(phase::handling, owner_->limits.idle_time); break;
      case phase::closed: break;
    }
  }
  watch_time();
}

template <class Stream>
void http_connection<Stream>::read() {
  auto const room = std::min<std::size_t>(buffer_.max_size() - buffer_.size(), 16 * 1024);
  if (reading_ || room == 0) return;
  reading_ = true;
  stream_.async_read_some(buffer_.prepare(room),
                          [self = this->shared_from_this()](boost::system::error_code ec, std::size_t size) {
                            self->on_read(ec, size);
                          });
}

template <class Stream>
void http_connection<Stream>::on_read(boost::system::error_code ec, std::size_t size) {
  reading_ = false;
  if (phase_ == phase::closed) return;
  if (ec) {
    switch (phase_) {
      case phase::handling:
        client_left_ = true;
        leaving_.emit(boost::asio::cancellation_type::terminal);
        return;
      case phase::writing: client_left_ = true; return;
      case phase::idle:
      case phase::header:
      case phase::body:
      case phase::lingering:
      case phase::closed: return cut();
    }
  }
  buffer_.commit(size);
  switch (phase_) {
    case phase::idle:
    case phase::header:
    case phase::body: return process();
    case phase::lingering:
      buffer_.consume(buffer_.size());
      if ((lingered_ += size) > owner_->limits.linger_bytes) return cut();
      return read();
    case phase::handling:  // the next request, early: it waits in the buffer
    case phase::writing:
    case phase::closed: break;
  }
}

template <class Stream>
void http_connection<Stream>::process() {
  while (buffer_.size() != 0) {
    if (phase_ == phase::idle) {
      parser_.emplace();
      parser_->header_limit(static_cast<std::uint32_t>(owner_->limits.header_bytes));
      parser_->body_limit(owner_->limits.body_bytes);
      header_checked_ = false;
      enter(phase::header, owner_->limits.header_time);
      began_ = entered_;
    }
    boost::system::error_code ec;
    auto const used = parser_->put(buffer_.data(), ec);
    buffer_.consume(used);
    if (ec && ec != boost::beast::http::error::need_more) {
      auto [status, text] = to_protocol_error(ec, owner_->limits);
      return refuse(status, std::move(text));
    }
    if (!header_checked_ && parser_->is_header_done() && !accept_header()) return;
    if (parser_->is_done()) return dispatch();
    if (used == 0) break;
  }
  read();
}

template <class Stream>
auto http_connection<Stream>::accept_header() -> bool {
  header_checked_ = true;
  if (auto problem = check_header(parser_->get())) {
    refuse(problem->status, std::move(problem->text));
    return false;
  }
  if (parser_->is_done()) return true;
  enter(phase::body, owner_->limits.body_time);
  parser_->eager(true);
  auto const& message = parser_->get();
  if (message.version() >= 11 && buffer_.size() == 0 && message.count(boost::beast::http::field::expect) != 0) {
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    continuing_ = true;  // one write at a time: the body is read when this one is through
    boost::asio::async_write(stream_, boost::asio::buffer(go_on),
                             [self = this->shared_from_this()](boost::system::error_code ec, std::size_t) {
                               self->continuing_ = false;
                               if (self->phase_ == phase::closed) return;
                               if (ec) return self->cut();
                               self->process();
                             });
    return false;
  }
  return true;
}

template <class Stream>
void http_connection<Stream>::start_refusing(int status, std::string text) {
  began_ = owner_->time->now();
  enter(phase::writing, owner_->limits.write_time);
  watch_time();
  refuse(status, std::move(text));
}

template <class Stream>
void http_connection<Stream>::refuse(int status, std::string text) {
  auto out = text_response(status, text);
  out.route = "protocol";
  out.close = true;
  respond(std::move(out));
}

template <class Stream>
void http_connection<Stream>::dispatch() {
  enter(phase::handling, owner_->limits.idle_time);  // the handler keeps its own time
  request_.emplace(parser_->get());
  auto reply = http_handler::reply{boost::asio::bind_cancellation_slot(
      leaving_.slot(), boost::asio::bind_executor(stream_.get_executor(),
                                                  [self = this->shared_from_this()](http_response response) {
                                                    self->respond(std::move(response));
                                                  }))};
  if (buffer_.size() == 0) read();
  owner_->answerer->handle(*request_, std::move(reply));
}

template <class Stream>
void http_connection<Stream>::respond(http_response response) {
  if (phase_ == phase::closed) return;
  enter(phase::writing, owner_->limits.write_time);
  response_ = std::move(response);
  bool const parsed = header_checked_ && parser_ && parser_->is_done();
  close_after_ = response_.close || owner_->draining || client_left_ || !parsed || !parser_->keep_alive();
  head_.clear();
  append_head(head_, response_, owner_->date(), !close_after_, parsed && parser_->get().version() == 10);
  auto const method = request_ ? request_->method : std::string_view{};
  if (owner_->observer != nullptr) {
    owner_->observer->request(response_.route, method, response_.status, entered_ - began_);
  }
  if (owner_->log != nullptr) {
    auto const status = std::to_string(response_.status);
    owner_->log->log(severity::debug, "request",
                     {{"method", method}, {"path", request_ ? request_->path : std::string_view{}}, {"status", status}});
  }
  std::array<boost::asio::const_buffer, 2> const parts{
      boost::asio::buffer(head_), method == "HEAD" ? boost::asio::const_buffer{} : boost::asio::buffer(response_.body)};
  boost::asio::async_write(stream_, parts, [self = this->shared_from_this()](boost::system::error_code ec, std::size_t) {
    self->on_written(ec);
  });
}

template <class Stream>
void http_connection<Stream>::on_written(boost::system::error_code ec) {
  if (phase_ == phase::closed) return;
  if (ec || client_left_) return cut();
  if (close_after_) return linger();
  if (owner_->draining) return cut();
  request_.reset();
  enter(phase::idle, owner_->limits.idle_time);
  if (!reading_) process();
}

// Closing with unread input makes the kernel send a reset, which may destroy the answer before it is read.
template <class Stream>
void http_connection<Stream>::linger() {
  shut_sending(stream_);
  enter(phase::lingering, shortest_time(owner_->limits));
  if (reading_) return;
  buffer_.consume(buffer_.size());
  read();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
