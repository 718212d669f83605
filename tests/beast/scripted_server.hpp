// A server on a loopback port that does what the test says, byte by byte, on the client's own loop.
#pragma once

#include "raw_client.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace beast_test {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

/// One accepted connection. Collects what comes.
class peer : public std::enable_shared_from_this<peer> {
 public:
  peer(asio::io_context& io, tcp::socket socket, asio::ssl::context* tls) : io_{&io}, socket_{std::move(socket)} {
    if (tls != nullptr) tls_.emplace(socket_, *tls);
  }

  void start() {
    if (!tls_) return listen();
    tls_->async_handshake(asio::ssl::stream_base::server, [self = shared_from_this()](error_code ec) {
      self->handshaken = !ec;
      self->ended = static_cast<bool>(ec);
      if (!ec) self->resumed = SSL_session_reused(self->tls_->native_handle()) == 1;
      if (!ec) self->listen();
    });
  }

  /// The next whole request: head and body. "" when the client has left.
  auto request() -> std::string {
    std::size_t size = 0;
    run_until(*io_, [&] { return (size = whole()) != 0 || ended; });
    auto out = input.substr(0, size);
    input.erase(0, size);
    return out;
  }
  auto has_request() const -> bool { return whole() != 0; }

  void send(std::string text) {
    auto const kept = std::make_shared<std::string>(std::move(text));
    auto done = std::make_shared<bool>(false);
    auto handler = [kept, done, self = shared_from_this()](error_code, std::size_t) { *done = true; };
    if (tls_) {
      asio::async_write(*tls_, asio::buffer(*kept), std::move(handler));
    } else {
      asio::async_write(socket_, asio::buffer(*kept), std::move(handler));
    }
    run_until(*io_, [&] { return *done; });
  }
  void answer(int status, std::string_view body, std::string_view fields = {}) {
    send("HTTP/1.1 " + std::to_string(status) + " X\r\n" + std::string{fields} + "Content-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + std::string{body});
  }
  /// FIN: the client reads the end of the stream.
  void close() {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
    ended = true;
  }
  /// RST.
  void reset() {
    error_code ignored;
    socket_.set_option(asio::socket_base::linger{true, 0}, ignored);
    socket_.close(ignored);
    ended = true;
  }

  std::string input;
  bool ended{false};
  bool handshaken{false};
  bool resumed{false};

 private:
  using error_code = boost::system::error_code;
  auto whole() const -> std::size_t {
    auto const head = input.find("\r\n\r\n");
    if (head == std::string::npos) return 0;
    auto const at = input.find("Content-Length: ");
    auto const body = at < head ? static_cast<std::size_t>(std::stoul(input.substr(at + 16))) : 0;
    return input.size() >= head + 4 + body ? head + 4 + body : 0;
  }
  void listen() {
    auto handler = [self = shared_from_this()](error_code ec, std::size_t size) {
      if (ec) {
        self->ended = true;
        return;
      }
      self->input.append(self->block_, size);
      self->listen();
    };
    if (tls_) {
      tls_->async_read_some(asio::buffer(block_), std::move(handler));
    } else {
      socket_.async_read_some(asio::buffer(block_), std::move(handler));
    }
  }

  asio::io_context* io_;
  tcp::socket socket_;
  std::optional<asio::ssl::stream<tcp::socket&>> tls_;
  char block_[16 * 1024];
};

class scripted_server {
 public:
  explicit scripted_server(asio::io_context& io, asio::ssl::context* tls = nullptr)
      : io_{&io}, acceptor_{io, {asio::ip::address_v4::loopback(), 0}}, tls_{tls}, port_{acceptor_.local_endpoint().port()} {
    accept();
  }
  auto port() const -> std::uint16_t { return port_; }
  auto connections() const -> std::size_t { return peers_.size(); }
  /// The connection of that number, from 0; waits for it.
  auto at(std::size_t number) -> peer& {
    run_until(*io_, [&] { return peers_.size() > number; });
    return *peers_[number];
  }
  /// No more connections: the port refuses.
  void stop() { acceptor_.close(); }
  void close_all() {
    for (auto const& one : peers_) one->close();
  }

 private:
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code ec, tcp::socket socket) {
      if (ec) return;
      peers_.push_back(std::make_shared<peer>(*io_, std::move(socket), tls_));
      peers_.back()->start();
      accept();
    });
  }

  asio::io_context* io_;
  tcp::acceptor acceptor_;
  asio::ssl::context* tls_;
  std::uint16_t port_;
  std::vector<std::shared_ptr<peer>> peers_;
};

}  // namespace beast_test
