// A port that says the same to whoever connects.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace grpc_test {

/// Says these bytes, nothing more, and keeps the connection.
struct talker {
  explicit talker(std::string words) {
    thread = std::thread{[this, words = std::move(words)] {
      boost::system::error_code ec;
      while (!ec) {
        boost::asio::ip::tcp::socket peer{io};
        acceptor.accept(peer, ec);
        if (ec) break;
        ++connections;
        if (!words.empty()) boost::asio::write(peer, boost::asio::buffer(words), ec);
        ec = {};
        kept.push_back(std::move(peer));
      }
    }};
  }
  ~talker() {
    ::shutdown(acceptor.native_handle(), SHUT_RDWR);  // ends the accept
    thread.join();
  }
  auto port() const -> std::uint16_t { return acceptor.local_endpoint().port(); }
  auto place() const -> std::string { return "127.0.0.1:" + std::to_string(port()); }

  std::atomic<int> connections{0};  ///< that there have been
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor acceptor{io, boost::asio::ip::tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}};
  std::vector<boost::asio::ip::tcp::socket> kept;
  std::thread thread;
};

/// HTTP/2 that is over as soon as it has begun: SETTINGS without any, then GOAWAY before the first stream, without an error.
inline auto goaway_at_once() -> std::string {
  using namespace std::string_view_literals;
  return std::string{"\0\0\0\x04\0\0\0\0\0"sv} + std::string{"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0"sv};
}

/// More connections for one call to such an endpoint are a loop. The call ends with the first connection that it is put on; where the loss is
/// heard of before that, which is a race, gRPC makes another.
constexpr int few_connections = 20;

}  // namespace grpc_test
