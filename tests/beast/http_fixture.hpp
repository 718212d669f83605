// An HTTP server on a loopback port, with a handler, a clock and an observer that the test rules.
#pragma once

#include "raw_client.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/http_listener.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace beast_test {

using namespace agones_alloc;

/// Echoes, or keeps the reply until the test gives it.
class fake_handler final : public http_handler {
 public:
  struct seen {
    std::string method, path, query, body, host, accept;
  };

  void handle(http_request const& request, reply done) override {
    requests.push_back({std::string{request.method}, std::string{request.path}, std::string{request.query},
                        std::string{request.body}, request.header("host"), request.header("ACCEPT")});
    if (!hold) {
      http_response out;
      out.content_type = "text/plain";
      out.body = std::string{request.body};
      out.headers.emplace_back("X-Path", std::string{request.path});
      return std::move(done)(std::move(out));
    }
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    slot.assign([this](boost::asio::cancellation_type) { ++cancelled; });
    held.push_back(std::make_unique<reply>(std::move(done)));
  }

  void release(std::string body = "late") {
    auto done = std::move(held.front());
    held.erase(held.begin());
    boost::asio::get_associated_cancellation_slot(*done).clear();
    http_response out;
    out.body = std::move(body);
    std::move (*done)(std::move(out));
  }

  bool hold{false};
  int cancelled{0};
  std::vector<seen> requests;
  std::vector<std::unique_ptr<reply>> held;
};

struct watching final : http_observer {
  void connections(std::size_t n) override { open = n; }
  void connection_cut(std::string_view why) override { cuts.emplace_back(why); }
  void request(std::string_view route, std::string_view method, int status, std::chrono::nanoseconds) override {
    finished.push_back(std::string{route} + " " + std::string{method} + " " + std::to_string(status));
  }
  std::size_t open{0};
  std::vector<std::string> cuts;
  std::vector<std::string> finished;
};

struct fixture {
  explicit fixture(http_limits limits = {}) : listener{io.get_executor(), handler, time, limits, nullptr, &observer} {
    REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
    REQUIRE(listener.port() != 0);
  }
  ~fixture() {
    listener.close();
    settle(io);
    CHECK(listener.connections() == 0);
    CHECK(time.pending() == 0);
  }
  auto client() -> raw_client { return {io, listener.port()}; }
  void until(std::function<bool()> const& done) { run_until(io, done); }

  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  fake_handler handler;
  watching observer;
  http_listener listener;
};

inline auto small() -> http_limits {
  http_limits limits;
  limits.header_bytes = 512;
  limits.body_bytes = 100;
  limits.connections = 2;
  limits.linger_bytes = 4096;
  limits.header_time = std::chrono::seconds{10};
  limits.body_time = std::chrono::seconds{20};
  limits.idle_time = std::chrono::seconds{60};
  limits.write_time = std::chrono::seconds{30};
  return limits;
}

inline auto get(std::string path) -> std::string { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"; }
inline auto post(std::string body) -> std::string {
  return "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace beast_test
