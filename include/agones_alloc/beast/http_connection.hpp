// One HTTP/1.1 connection over any stream.
#pragma once

#include <agones_alloc/beast/http_head.hpp>
#include <agones_alloc/beast/http_session.hpp>
#include <agones_alloc/beast/parsed_request.hpp>
#include <agones_alloc/config.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// How a stream ends; other streams (TLS) bring overloads of their own. `Kept` lives until that is done.
template <class Kept>
void shut_sending(boost::asio::ip::tcp::socket& socket, Kept const&) {
  boost::system::error_code ignored;
  socket.shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
}
inline void close_stream(boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.close(ignored);
}

/// The address of a stream's other side, as text; "" where it has none.
template <class Stream>
auto peer_of(Stream&) -> std::string {
  return {};
}
inline auto peer_of(boost::asio::ip::tcp::socket& socket) -> std::string {
  boost::system::error_code ec;
  auto const peer = socket.remote_endpoint(ec);
  return ec ? std::string{} : peer.address().to_string();
}

/// The reading half never stops while its buffer has room: during a request a read waits for the client's next
/// bytes or its leaving. Those bytes are the next request's. Bytes that were parsed while a read is in flight stay
/// in the buffer until it ends, so the buffer stands still under it.
template <class Stream>
class http_connection final : public http_session, public std::enable_shared_from_this<http_connection<Stream>> {
 public:
  http_connection(Stream stream, std::shared_ptr<http_session_owner> owner);

  void start();
  void drain() override;
  void cut() override;
  /// In place of `start`: answers without reading a request, because the listener is full.
  void start_refusing(int status, std::string text);

 private:
  /// Whether the stream has a handshake to make before its first byte: TLS.
  static constexpr bool is_secured = requires(Stream& s) { s.read_client(); };
  enum class phase : std::uint8_t { securing, idle, header, body, handling, writing, streaming, lingering, closed };

  void enter(phase, std::chrono::nanoseconds time);
  void watch_time();
  void on_time();
  void on_secured(boost::system::error_code);
  void read();
  void on_read(boost::system::error_code, std::size_t);
  void process();
  auto unparsed() const noexcept -> boost::asio::const_buffer { return buffer_.cdata() + parsed_; }
  void drop(std::size_t);
  auto skip_empty_lines() -> bool;
  auto accept_header() -> bool;
  void refuse(int status, std::string text);
  void dispatch();
  void respond(http_response);
  void on_written(boost::system::error_code);
  auto streams() const noexcept -> bool { return response_.stream != nullptr; }
  void ask_for_piece();
  void send_piece(http_body_stream::piece);
  void on_piece_written(boost::system::error_code, bool last);
  void stop_stream();
  void linger();
  void end_lingering_soon();
  void cut_for(std::string_view why);

  Stream stream_;
  std::shared_ptr<http_session_owner> owner_;
  boost::beast::flat_buffer buffer_;
  request_text text_;
  std::optional<request_parser> parser_;
  std::optional<parsed_request> request_;
  boost::asio::cancellation_signal leaving_;
  boost::asio::cancellation_signal timing_;
  boost::asio::cancellation_signal linger_timing_;
  http_response response_;
  std::string head_;
  http_body_stream::piece piece_;  ///< while it is written
  std::string peer_;
  timer::time_point entered_;
  timer::time_point deadline_;
  timer::time_point began_;
  std::size_t parsed_{0};  ///< bytes at the front of the buffer that are done with
  std::size_t header_size_{0};
  std::size_t lingered_{0};
  phase phase_{phase::idle};
  bool reading_{false};
  bool header_checked_{false};
  bool continuing_{false};
  bool client_left_{false};
  bool close_after_{false};
  bool chunked_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#include <agones_alloc/impl/beast/http_connection.hpp>
#include <agones_alloc/impl/beast/http_connection_reading.hpp>
#include <agones_alloc/impl/beast/http_connection_streaming.hpp>
