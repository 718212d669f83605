// Games that are never ready, in a process of their own: 503 to whoever asks.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// Many hosts: addresses of the loopback net, with one port each.
class game_hosts {
 public:
  explicit game_hosts(std::size_t hosts) {
    for (std::size_t i = 0; i != hosts; ++i) {
      auto& one = acceptors_.emplace_back(context_, tcp::endpoint{boost::asio::ip::make_address(address(i)), 0});
      one.listen(1024);
    }
    for (auto& one : acceptors_) accept(one);
  }
  static auto address(std::size_t host) -> std::string {
    return "127.1." + std::to_string(host / 200) + "." + std::to_string(host % 200 + 1);
  }
  auto port(std::size_t host) const -> std::uint16_t { return acceptors_[host].local_endpoint().port(); }
  /// Until nothing more comes from the descriptor.
  void serve_until_end_of(int descriptor) {
    boost::asio::posix::stream_descriptor end{context_, descriptor};
    std::array<char, 1> nothing{};
    end.async_read_some(boost::asio::buffer(nothing), [this](boost::system::error_code, std::size_t) { context_.stop(); });
    context_.run();
  }

 private:
  using tcp = boost::asio::ip::tcp;
  struct session {
    explicit session(tcp::socket s) : socket{std::move(s)} {}
    tcp::socket socket;
    std::string asked;
  };
  void accept(tcp::acceptor& at) {
    at.async_accept([this, &at](boost::system::error_code ec, tcp::socket socket) {
      if (!ec) answer(std::make_shared<session>(std::move(socket)));
      if (ec != boost::asio::error::operation_aborted) accept(at);
    });
  }
  // One after the other, for as long as the connection is kept.
  static void answer(std::shared_ptr<session> const& one) {
    auto asked = [one](boost::system::error_code ec, std::size_t size) {
      static constexpr std::string_view text = "HTTP/1.1 503 Not yet\r\nContent-Length: 0\r\n\r\n";
      if (ec) return;
      one->asked.erase(0, size);
      boost::asio::async_write(one->socket, boost::asio::buffer(text), [one](boost::system::error_code failed, std::size_t) {
        if (!failed) answer(one);
      });
    };
    boost::asio::async_read_until(one->socket, boost::asio::dynamic_buffer(one->asked, 4096), "\r\n\r\n", std::move(asked));
  }

  boost::asio::io_context context_{1};
  std::vector<tcp::acceptor> acceptors_;
};

/// The process. Begun before there are threads.
class game_process {
 public:
  explicit game_process(std::size_t hosts) {
    std::array<int, 2> ports{};
    std::array<int, 2> life{};
    if (::pipe(ports.data()) != 0 || ::pipe(life.data()) != 0) throw std::runtime_error{"no pipes can be had"};
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error{"no process can be begun"};
    if (child_ == 0) {
      ::close(ports[0]);
      ::close(life[1]);
      ::_exit(serve(hosts, ports[1], life[0]));
    }
    ::close(ports[1]);
    ::close(life[0]);
    life_ = life[1];
    ports_.resize(hosts);
    for (auto& port : ports_) {
      if (::read(ports[0], &port, sizeof port) != static_cast<ssize_t>(sizeof port)) throw std::runtime_error{"the games do not begin"};
    }
    ::close(ports[0]);
  }
  ~game_process() { end(); }
  game_process(game_process const&) = delete;
  auto operator=(game_process const&) -> game_process& = delete;

  auto port(std::size_t host) const -> std::uint16_t { return ports_[host]; }
  /// Ends it; the seconds of processor that it had.
  auto end() -> double {
    if (life_ < 0) return 0;
    ::close(life_);
    life_ = -1;
    rusage used{};
    int status = 0;
    ::wait4(child_, &status, 0, &used);
    auto const seconds = [](timeval const& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
  }

 private:
  static auto serve(std::size_t hosts, int ports, int life) -> int {
    try {
      game_hosts games{hosts};
      for (std::size_t i = 0; i != hosts; ++i) {
        auto const port = games.port(i);
        if (::write(ports, &port, sizeof port) != static_cast<ssize_t>(sizeof port)) return 1;
      }
      ::close(ports);
      games.serve_until_end_of(life);
      return 0;
    } catch (std::exception const& e) {
      std::fprintf(stderr, "gate: the games: %s\n", e.what());
      return 1;
    }
  }

  pid_t child_{-1};
  int life_{-1};
  std::vector<std::uint16_t> ports_;
};

}  // namespace bench
