// Bodies of http_connection, a template: answers that come piece by piece.
#pragma once

#include <agones_alloc/beast/http_connection.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <charconv>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

// No time of its own runs while the stream has nothing to tell; its client's leaving is noticed by the read that waits.
template <class Stream>
void http_connection<Stream>::ask_for_piece() {
  enter(phase::streaming, owner_->limits.idle_time);
  if (owner_->draining) return drain();
  auto const of = response_.stream;
  of->next([self = this->shared_from_this(), of](http_body_stream::piece piece) {
    if (self->phase_ == phase::streaming && self->response_.stream == of) self->send_piece(std::move(piece));
  });
}

template <class Stream>
void http_connection<Stream>::send_piece(http_body_stream::piece piece) {
  enter(phase::writing, owner_->limits.write_time);
  bool const last = piece == nullptr;
  piece_ = std::move(piece);
  head_.clear();
  auto rest = last ? boost::asio::const_buffer{} : boost::asio::buffer(*piece_);
  if (chunked_) {
    char digits[16];
    head_.append(digits, std::to_chars(digits, digits + sizeof digits, rest.size(), 16).ptr).append("\r\n");
  }
  if constexpr (is_secured) {  // one record where it fits
    if (rest.size() <= 16 * 1024) {
      head_.append(static_cast<char const*>(rest.data()), rest.size());
      rest = {};
    }
  }
  static constexpr std::string_view line_end = "\r\n";
  std::array<boost::asio::const_buffer, 3> const parts{boost::asio::buffer(head_), rest,
                                                       chunked_ ? boost::asio::buffer(line_end) : boost::asio::const_buffer{}};
  boost::asio::async_write(stream_, parts,
                           [self = this->shared_from_this(), last](boost::system::error_code ec, std::size_t) {
                             self->on_piece_written(ec, last);
                           });
}

template <class Stream>
void http_connection<Stream>::on_piece_written(boost::system::error_code ec, bool last) {
  piece_.reset();
  if (phase_ == phase::closed) return;
  if (ec || client_left_) return cut();
  if (!last) return ask_for_piece();
  stop_stream();
  on_written(ec);
}

template <class Stream>
void http_connection<Stream>::stop_stream() {
  if (auto const stream = std::move(response_.stream)) stream->stop();
  response_.stream.reset();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
