// HTTP/2 by hand against the listener: pings, silence, and connections without calls (spec 8.11).
#include "../beast/raw_client.hpp"
#include "grpc_fixture.hpp"

#include <boost/asio/buffer.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

using namespace grpc_test;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

namespace {

constexpr char ping_frame = 6;
constexpr char goaway_frame = 7;

/// A client that has begun a connection, and no call. Reads frames as they come.
class silent_client {
 public:
  explicit silent_client(served const& server) : socket_{io_} {
    socket_.connect({boost::asio::ip::address_v4::loopback(), server.listener->port()});
    send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"sv);
    send("\0\0\0\4\0\0\0\0\0"sv);  // its settings: none
    read();
  }
  void ping() { send("\0\0\10\6\0\0\0\0\0abcdefgh"sv); }
  void answer_ping() { send("\0\0\10\6\1\0\0\0\0"sv, ping_words_); }

  void until_over() { beast_test::run_until(io_, [this] { return over_; }); }
  /// False when the connection ended instead.
  auto until_answered(int count) -> bool {
    beast_test::run_until(io_, [&] { return over_ || answers_ >= count; });
    return answers_ >= count;
  }
  auto until_pinged(int count) -> bool {
    beast_test::run_until(io_, [&] { return over_ || pings_ >= count; });
    return pings_ >= count;
  }
  /// Nothing is said for so long.
  void rest(std::chrono::milliseconds time) {
    io_.restart();
    io_.run_for(time);
  }
  auto over() const -> bool { return over_; }
  /// The code of a GOAWAY; -1: there was none.
  auto gone() const -> int { return gone_; }

 private:
  void send(std::string_view text, std::string_view more = {}) {
    boost::system::error_code closed;
    boost::asio::write(socket_, boost::asio::buffer(std::string{text} + std::string{more}), closed);
  }
  void read() {
    socket_.async_read_some(boost::asio::buffer(chunk_), [this](boost::system::error_code ec, std::size_t size) {
      text_.append(chunk_, size);
      take();
      over_ = over_ || static_cast<bool>(ec);
      if (!ec) read();
    });
  }
  void take() {
    auto const byte = [this](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(text_[at])); };
    while (text_.size() >= 9) {
      auto const size = byte(0) << 16U | byte(1) << 8U | byte(2);
      if (text_.size() < 9 + size) return;
      bool const answers = (byte(4) & 1U) != 0;
      if (text_[3] == ping_frame) ++(answers ? answers_ : pings_);
      if (text_[3] == ping_frame && !answers) ping_words_ = text_.substr(9, size);
      if (text_[3] == goaway_frame) gone_ = text_[9 + 7];
      text_.erase(0, 9 + size);
    }
  }

  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;
  char chunk_[4096];
  std::string text_;
  std::string ping_words_;
  int answers_{0};
  int pings_{0};
  int gone_{-1};
  bool over_{false};
};

}  // namespace

TEST_CASE("pings without calls are answered as long as the interval between them is kept") {
  grpc_listener_options options;
  options.least_ping_interval = 1ms;
  served s{options};
  silent_client client{s};
  // gRPC sends away at the third that is too early.
  for (int i = 1; i <= 10; ++i) {
    REQUIRE(client.until_answered(i - 1));
    client.rest(20ms);
    client.ping();
  }
  CHECK(client.until_answered(10));
  CHECK(client.gone() == -1);
}

TEST_CASE("who pings more often is told to be calm, and the connection ends") {
  grpc_listener_options options;
  options.least_ping_interval = 1h;
  served s{options};
  silent_client client{s};
  for (int i = 1; i <= 10; ++i) {
    client.ping();
    if (!client.until_answered(i)) break;
  }
  client.until_over();
  CHECK(client.gone() == 11);
  CHECK(ask(s.channel()).status.ok());
}

TEST_CASE("a connection without calls is closed after its time") {
  grpc_listener_options options;
  options.idle_time = 50ms;
  served s{options};
  silent_client client{s};
  client.until_over();
  CHECK(client.gone() != 11);  // the code is gRPC's choice, but not that of who pings too often
  CHECK(ask(s.channel()).status.ok());
}

TEST_CASE("a silent client is pinged, and one that does not answer is cut") {
  grpc_listener_options options;
  options.ping_time = 50ms;
  options.ping_wait = 5s;
  served s{options};
  silent_client client{s};
  REQUIRE(client.until_pinged(1));
  client.answer_ping();
  REQUIRE(client.until_pinged(2));
  client.until_over();
  CHECK(ask(s.channel()).status.ok());
}
