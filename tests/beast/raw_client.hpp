// A client that sends bytes as they are and reads answers, on the server's own thread.
#pragma once

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace beast_test {

/// Runs the loop until `done`; a test that would hang fails instead.
inline void run_until(boost::asio::io_context& io, std::function<bool()> const& done) {
  for (int silent = 0; !done();) {
    io.restart();
    if (io.run_one_for(std::chrono::seconds{1}) == 0 && ++silent == 30) throw std::runtime_error{"nothing happens any more"};
  }
}

/// Runs what is ready now.
inline void settle(boost::asio::io_context& io) {
  io.restart();
  io.poll();
}

struct answer {
  int status{0};
  std::map<std::string, std::string> fields;  ///< names in lower case
  std::string body;
  std::string head;

  auto field(std::string const& name) const -> std::string {
    auto const at = fields.find(name);
    return at == fields.end() ? std::string{} : at->second;
  }
};

inline auto parse_head(std::string const& head) -> answer {
  answer out;
  out.head = head;
  out.status = std::stoi(head.substr(9, 3));
  for (std::size_t at = head.find("\r\n") + 2; at + 2 < head.size();) {
    auto const end = head.find("\r\n", at);
    if (end == at || end == std::string::npos) break;
    auto const colon = head.find(':', at);
    auto name = head.substr(at, colon - at);
    for (auto& c : name) c = static_cast<char>(std::tolower(c));
    out.fields[name] = head.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  return out;
}

class raw_client {
 public:
  raw_client(boost::asio::io_context& io, std::uint16_t port) : io_{&io}, socket_{io} {
    bool done = false;
    boost::system::error_code failed;
    socket_.async_connect({boost::asio::ip::address_v4::loopback(), port}, [&](boost::system::error_code ec) {
      failed = ec;
      done = true;
    });
    run_until(io, [&] { return done; });
    if (failed) throw boost::system::system_error{failed};
  }

  /// False when the other side does not take it any more.
  auto send(std::string_view text) -> bool {
    bool done = false;
    boost::system::error_code failed;
    boost::asio::async_write(socket_, boost::asio::buffer(text), [&](boost::system::error_code ec, std::size_t) {
      failed = ec;
      done = true;
    });
    run_until(*io_, [&] { return done; });
    settle(*io_);
    return !failed;
  }

  /// The next answer; status 0 when the connection ended instead. `head_only` for answers to HEAD.
  auto receive(bool head_only = false) -> answer {
    auto const head_size = wait_for([&](auto handler) {
      boost::asio::async_read_until(socket_, boost::asio::dynamic_buffer(input_), "\r\n\r\n", std::move(handler));
    });
    if (head_size == 0) return {};
    auto out = parse_head(input_.substr(0, head_size));
    input_.erase(0, head_size);
    auto const length = out.field("content-length");
    if (head_only || length.empty()) return out;
    auto const size = static_cast<std::size_t>(std::stoul(length));
    if (input_.size() < size) {
      wait_for([&](auto handler) {
        boost::asio::async_read(socket_, boost::asio::dynamic_buffer(input_),
                                boost::asio::transfer_exactly(size - input_.size()), std::move(handler));
      });
    }
    out.body = input_.substr(0, size);
    input_.erase(0, size);
    return out;
  }

  auto ask(std::string_view text, bool head_only = false) -> answer {
    send(text);
    return receive(head_only);
  }

  /// Everything up to and with `end`, which comes after what was received before; "" when the connection ended instead.
  auto receive_until(std::string const& end) -> std::string {
    auto const size = wait_for([&](auto handler) {
      boost::asio::async_read_until(socket_, boost::asio::dynamic_buffer(input_), end, std::move(handler));
    });
    auto out = input_.substr(0, size);
    input_.erase(0, size);
    return out;
  }

  /// True when the other side closes without sending anything more.
  auto ends() -> bool {
    char byte = 0;
    boost::system::error_code failed;
    std::size_t size = 0;
    bool done = false;
    socket_.async_read_some(boost::asio::buffer(&byte, 1), [&](boost::system::error_code ec, std::size_t n) {
      failed = ec;
      size = n;
      done = true;
    });
    run_until(*io_, [&] { return done; });
    return input_.empty() && size == 0 && failed;
  }

  void shut_sending() { socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send); }
  void close() { socket_.close(); }
  auto unread() const -> std::string const& { return input_; }

 private:
  template <class Start>
  auto wait_for(Start&& start) -> std::size_t {
    bool done = false;
    std::size_t size = 0;
    start([&](boost::system::error_code ec, std::size_t n) {
      size = ec ? 0 : n;
      done = true;
    });
    run_until(*io_, [&] { return done; });
    return size;
  }

  boost::asio::io_context* io_;
  boost::asio::ip::tcp::socket socket_;
  std::string input_;
};

}  // namespace beast_test
