// How fast are allocations over HTTP, next to a Beast server that only says hello?
//
// Both servers run one after the other in this process, on one thread each, and get the same load: the same loader on
// a second thread, the same connections, the same number of requests, over loopback. Rounds alternate; medians count.
#include "in_turn.hpp"
#include "running_loop.hpp"
#include "stocked_allocator.hpp"

#include <agones_alloc/beast/http_listener.hpp>
#include <agones_alloc/beast/rest_front_end.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <CLI/CLI.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

struct settings {
  bool json{false};
  std::size_t connections{32};
  std::size_t requests{60'000};  ///< of one round
  std::size_t rounds{3};
};

/// One keep-alive connection of the loader: asks, reads, asks again.
class loader : public std::enable_shared_from_this<loader> {
 public:
  struct tally {
    std::size_t to_start;
    std::size_t failed{0};
    std::size_t done{0};
  };

  loader(asio::io_context& io, std::string request, tally& counts)
      : socket_{io}, request_{std::move(request)}, counts_{&counts} {}

  void start(tcp::endpoint where) {
    socket_.connect(where);
    socket_.set_option(tcp::no_delay{true});
    next();
  }

 private:
  void next() {
    if (counts_->to_start == 0) return socket_.close();
    --counts_->to_start;
    asio::async_write(socket_, asio::buffer(request_), [self = shared_from_this()](beast::error_code ec, std::size_t) {
      if (ec) return self->fail();
      self->read();
    });
  }

  void read() {
    socket_.async_read_some(asio::buffer(chunk_), [self = shared_from_this()](beast::error_code ec, std::size_t size) {
      if (ec) return self->fail();
      self->answer_.append(self->chunk_.data(), size);
      if (!self->complete()) return self->read();
      ++self->counts_->done;
      if (self->answer_.compare(9, 3, "200") != 0) ++self->counts_->failed;
      self->answer_.clear();
      self->next();
    });
  }

  auto complete() const -> bool {
    auto const head = answer_.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    static constexpr std::string_view field = "Content-Length: ";
    auto const at = answer_.find(field);
    std::size_t size = 0;
    if (at < head) std::from_chars(answer_.data() + at + field.size(), answer_.data() + head, size);
    return answer_.size() >= head + 4 + size;
  }

  void fail() { ++counts_->failed; }

  tcp::socket socket_;
  std::string request_;
  std::string answer_;
  std::array<char, 16 * 1024> chunk_{};
  tally* counts_;
};

/// Requests a second; exits when an answer was not 200.
auto load(settings const& how, std::uint16_t port, std::string const& request) -> double {
  asio::io_context io{1};
  loader::tally counts{how.requests};
  for (std::size_t i = 0; i != how.connections; ++i) {
    std::make_shared<loader>(io, request, counts)->start({asio::ip::address_v4::loopback(), port});
  }
  auto const begin = std::chrono::steady_clock::now();
  io.run();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  if (counts.failed != 0 || counts.done != how.requests) {
    std::fprintf(stderr, "http: %zu of %zu requests failed\n", counts.failed, how.requests);
    std::exit(1);
  }
  return static_cast<double>(counts.done) / took.count();
}

/// The plain way to say hello with Beast.
class hello_session : public std::enable_shared_from_this<hello_session> {
 public:
  explicit hello_session(tcp::socket socket) : stream_{std::move(socket)} {}

  void read() {
    request_ = {};
    stream_.expires_after(std::chrono::seconds{30});
    http::async_read(stream_, buffer_, request_, [self = shared_from_this()](beast::error_code ec, std::size_t) {
      if (!ec) self->write();
    });
  }

 private:
  void write() {
    response_ = {http::status::ok, request_.version()};
    response_.set(http::field::content_type, "text/plain");
    response_.keep_alive(request_.keep_alive());
    response_.body() = "Hello, world!\n";
    response_.prepare_payload();
    http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code ec, std::size_t) {
      if (!ec) self->read();
    });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

class hello_server {
 public:
  explicit hello_server(asio::io_context& io) : acceptor_{io, {asio::ip::address_v4::loopback(), 0}} { accept(); }
  auto port() const -> std::uint16_t { return acceptor_.local_endpoint().port(); }

 private:
  void accept() {
    acceptor_.async_accept([this](beast::error_code ec, tcp::socket socket) {
      if (ec) return;
      socket.set_option(tcp::no_delay{true});
      std::make_shared<hello_session>(std::move(socket))->read();
      accept();
    });
  }
  tcp::acceptor acceptor_;
};

auto measure_hello(settings const& how) -> double {
  asio::io_context io{1};
  hello_server server{io};
  bench::running_loop const loop{io};
  return load(how, server.port(), "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
}

auto measure_allocations(settings const& how) -> double {
  using namespace agones_alloc;
  bench::stocked_allocator stock{how.requests + 1000};
  rest_front_end front_end{stock.backend, stock.time, {}};
  http_listener listener{stock.io.get_executor(), front_end, stock.time};
  if (listener.listen("127.0.0.1", 0)) {
    std::fputs("http: cannot listen on 127.0.0.1\n", stderr);
    std::exit(1);
  }
  std::string const body = R"({"namespace":"default","gameServerSelectors":[{"matchLabels":{"agones.dev/fleet":"simple"}}]})";
  bench::running_loop const loop{stock.io};
  return load(how, listener.port(),
              "POST /gameserverallocation HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
                  std::to_string(body.size()) + "\r\n\r\n" + body);
}

}  // namespace

auto main(int argc, char** argv) -> int {
  settings how;
  CLI::App app{"Measures allocations over HTTP, next to a server that only says hello."};
  app.add_flag("--json", how.json, "One JSON object");
  app.add_option("--connections", how.connections, "Of the loader")->check(CLI::Range(1, 60'000))->capture_default_str();
  app.add_option("--requests", how.requests, "Of one round")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  bench::add_rounds(app, how.rounds);
  CLI11_PARSE(app, argc, argv);
  auto const found = bench::in_turn(how.rounds, [&how] { return measure_hello(how); }, [&how] { return measure_allocations(how); });
  std::printf(how.json ? "{\"per_second\":%.0f,\"hello_per_second\":%.0f,\"ratio\":%.3f,\"connections\":%zu,\"requests\":%zu,\"rounds\":%zu}\n"
                       : "%.0f allocations/s over HTTP, %.0f hellos/s, ratio %.3f (%zu connections, %zu requests, %zu rounds)\n",
              found.ours, found.baseline, found.ratio(), how.connections, how.requests, how.rounds);
  return 0;
}
