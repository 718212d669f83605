// Bodies of http_connection, a template: its requests, from bytes to the handler.
#pragma once

#include <agones_alloc/beast/http_connection.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

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
  buffer_.commit(size);
  drop(0);
  if (phase_ == phase::closed) return;
  if (ec) {
    switch (phase_) {
      case phase::handling:
        client_left_ = true;
        leaving_.emit(boost::asio::cancellation_type::terminal);
        return;
      case phase::writing: client_left_ = true; return;
      case phase::streaming:
      case phase::securing:
      case phase::idle:
      case phase::header:
      case phase::body:
      case phase::lingering:
      case phase::closed: return cut();
    }
  }
  switch (phase_) {
    case phase::idle:
    case phase::header:
    case phase::body: return process();
    case phase::lingering:
      drop(unparsed().size());
      if ((lingered_ += size) > owner_->limits.linger_bytes) return cut();
      return read();
    case phase::handling:  // the next request, early: it waits in the buffer
    case phase::streaming:
    case phase::writing: return read();
    case phase::securing:
    case phase::closed: break;
  }
}

template <class Stream>
void http_connection<Stream>::drop(std::size_t size) {
  parsed_ += size;
  if (!reading_) buffer_.consume(std::exchange(parsed_, 0));
}

// Some clients end a body with a line break that is not counted (RFC 9112 2.2).
template <class Stream>
auto http_connection<Stream>::skip_empty_lines() -> bool {
  for (;;) {
    auto const rest = unparsed();
    auto const* at = static_cast<char const*>(rest.data());
    if (rest.size() != 0 && at[0] == '\n') {
      drop(1);
    } else if (rest.size() >= 2 && at[0] == '\r' && at[1] == '\n') {
      drop(2);
    } else {
      return rest.size() > 1 || (rest.size() == 1 && at[0] != '\r');
    }
  }
}

template <class Stream>
void http_connection<Stream>::process() {
  while (unparsed().size() != 0) {
    if (phase_ == phase::idle) {
      if (!skip_empty_lines()) break;
      text_.clear();
      parser_.emplace(text_, owner_->limits);
      header_checked_ = false;
      header_size_ = 0;
      enter(phase::header, owner_->limits.header_time);
      began_ = entered_;
    }
    boost::system::error_code ec;
    auto const used = parser_->put(unparsed(), ec);
    drop(used);
    if (!header_checked_) header_size_ += used;
    if (ec && ec != boost::beast::http::error::need_more) {
      auto [status, text] = to_protocol_error(ec, owner_->limits);
      return refuse(status, std::move(text));
    }
    if (!header_checked_ && parser_->is_header_done() && !accept_header()) return;
    if (parser_->is_done()) return dispatch();
    if (used == 0) break;
  }
  if (!reading_ && buffer_.size() == buffer_.max_size()) {  // the parser wants more of a line than there may be
    return refuse(431, "a chunk's extension or the fields after the last chunk are larger than " +
                           std::to_string(buffer_.max_size()) + " bytes");
  }
  read();
}

template <class Stream>
auto http_connection<Stream>::accept_header() -> bool {
  header_checked_ = true;
  if (header_size_ > owner_->limits.header_bytes) {  // the parser counts the fields of some requests without their first line
    auto [status, text] = to_protocol_error(boost::beast::http::error::header_limit, owner_->limits);
    refuse(status, std::move(text));
    return false;
  }
  if (auto problem = check_header(text_)) {
    refuse(problem->status, std::move(problem->text));
    return false;
  }
  if (parser_->is_done()) return true;
  enter(phase::body, owner_->limits.body_time);
  parser_->eager(true);
  if (text_.version >= 11 && unparsed().size() == 0 && text_.count(boost::beast::http::field::expect) != 0) {
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
void http_connection<Stream>::dispatch() {
  enter(phase::handling, owner_->limits.idle_time);  // the handler keeps its own time
  request_.emplace(text_);
  if (peer_.empty()) peer_ = peer_of(stream_);
  request_->peer = peer_;
  if constexpr (is_secured) request_->client = stream_.client();
  auto reply = http_handler::reply{boost::asio::bind_cancellation_slot(
      leaving_.slot(), boost::asio::bind_executor(stream_.get_executor(),
                                                  [self = this->shared_from_this()](http_response response) {
                                                    self->respond(std::move(response));
                                                  }))};
  read();
  owner_->answerer->handle(*request_, std::move(reply));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
