// Bodies of http_connection, a template: its life, its time, its answers.
#pragma once

#include <agones_alloc/beast/http_connection.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

template <class Stream>
http_connection<Stream>::http_connection(Stream stream, std::shared_ptr<http_session_owner> owner)
    : stream_{std::move(stream)}, owner_{std::move(owner)}, buffer_{owner_->limits.header_bytes + 4096} {}

template <class Stream>
void http_connection<Stream>::start() {
  if constexpr (is_secured) {
    enter(phase::securing, owner_->limits.handshake_time);
    watch_time();
    stream_.async_handshake(
        [self = this->shared_from_this()](boost::system::error_code ec) { self->on_secured(ec); });
  } else {
    enter(phase::idle, owner_->limits.idle_time);
    watch_time();
    read();
  }
}

template <class Stream>
void http_connection<Stream>::on_secured(boost::system::error_code ec) {
  if constexpr (is_secured) {
    if (phase_ == phase::closed) return;
    if (ec) {
      auto const why = stream_.verification_problem();
      auto const reason = why.empty() ? ec.message() : std::string{why};
      if (owner_->log != nullptr) owner_->log->log(severity::debug, "TLS handshake failed", {{"reason", reason}});
      return cut_for("handshake");
    }
    stream_.read_client();
    enter(phase::idle, owner_->limits.idle_time);
    read();
  }
}

template <class Stream>
void http_connection<Stream>::drain() {
  if (phase_ == phase::securing || phase_ == phase::idle || phase_ == phase::lingering) return cut();
  if (phase_ != phase::streaming) return;
  close_after_ = true;
  stop_stream();
  send_piece(nullptr);
}

template <class Stream>
void http_connection<Stream>::cut() {
  if (phase_ == phase::closed) return;
  auto const self = this->shared_from_this();
  auto const was = std::exchange(phase_, phase::closed);
  close_stream(stream_);
  owner_->serves(*this);
  owner_->closed(*this);
  timing_.emit(boost::asio::cancellation_type::terminal);
  linger_timing_.emit(boost::asio::cancellation_type::terminal);
  stop_stream();
  if (was == phase::handling) leaving_.emit(boost::asio::cancellation_type::terminal);
}

template <class Stream>
void http_connection<Stream>::cut_for(std::string_view why) {
  if (owner_->observer != nullptr) owner_->observer->connection_cut(why);
  cut();
}

template <class Stream>
void http_connection<Stream>::enter(phase next, std::chrono::nanoseconds time) {
  switch (next) {
    case phase::securing:
    case phase::idle:
    case phase::header:
    case phase::body:
    case phase::lingering: owner_->waits_for(*this); break;
    case phase::handling:
    case phase::writing:
    case phase::streaming:
    case phase::closed: owner_->serves(*this); break;
  }
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
      case phase::securing: return cut_for("slow handshake");
      case phase::idle: return cut_for("idle");
      case phase::writing: return cut_for("slow reader");
      case phase::lingering: return cut();
      case phase::handling:
      case phase::streaming: enter(phase_, owner_->limits.idle_time); break;
      case phase::closed: break;
    }
  }
  watch_time();
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
void http_connection<Stream>::respond(http_response response) {
  if (phase_ == phase::closed) return;
  enter(phase::writing, owner_->limits.write_time);
  response_ = std::move(response);
  bool const parsed = header_checked_ && parser_ && parser_->is_done();
  bool const head_only = parser_ && text_.method() == "HEAD";  // also of one that is refused before it is a request
  auto const method = request_ ? request_->method : head_only ? text_.method() : std::string_view{};
  chunked_ = streams() && parsed && text_.version != 10;
  if (streams() && !chunked_) response_.close = true;  // its end is the body's
  close_after_ = response_.close || owner_->draining || client_left_ || !parsed || !parser_->keep_alive();
  head_.clear();
  append_head(head_, response_, owner_->date(), !close_after_, parsed && text_.version == 10);
  if (owner_->observer != nullptr) {
    owner_->observer->request(response_.route, method, response_.status, entered_ - began_);
  }
  if (owner_->log != nullptr) {
    auto const status = std::to_string(response_.status);
    owner_->log->log(severity::debug, "request",
                     {{"method", method}, {"path", request_ ? request_->path : std::string_view{}}, {"status", status}});
  }
  if (head_only) stop_stream();
  auto rest = head_only || streams() ? boost::asio::const_buffer{} : boost::asio::buffer(response_.body);
  if constexpr (is_secured) {  // one record and one packet: TLS gathers no buffers
    if (rest.size() <= 16 * 1024) {
      head_.append(static_cast<char const*>(rest.data()), rest.size());
      rest = {};
    }
  }
  std::array<boost::asio::const_buffer, 2> const parts{boost::asio::buffer(head_), rest};
  boost::asio::async_write(stream_, parts, [self = this->shared_from_this()](boost::system::error_code ec, std::size_t) {
    self->on_written(ec);
  });
}

template <class Stream>
void http_connection<Stream>::on_written(boost::system::error_code ec) {
  if (phase_ == phase::closed) return;
  if (ec || client_left_) return cut();
  if (streams()) return ask_for_piece();
  if (close_after_) return linger();
  if (owner_->draining) return cut();
  request_.reset();
  enter(phase::idle, owner_->limits.idle_time);
  process();
}

// Closing with unread input makes the kernel send a reset, which may destroy the answer before it is read.
template <class Stream>
void http_connection<Stream>::linger() {
  shut_sending(stream_, this->shared_from_this());
  enter(phase::lingering, shortest_time(owner_->limits));
  if (owner_->draining) end_lingering_soon();
  if (reading_) return;
  drop(unparsed().size());
  read();
}

// A server that stops has not the time of others; a client that is there has read its answer by then.
template <class Stream>
void http_connection<Stream>::end_lingering_soon() {
  owner_->time->async_wait_until(
      owner_->time->now() + std::chrono::seconds{1},
      boost::asio::bind_cancellation_slot(
          linger_timing_.slot(),
          boost::asio::bind_executor(stream_.get_executor(), [self = this->shared_from_this()](error_code ec) {
            if (!ec) self->cut();
          })));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
