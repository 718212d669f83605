// The HTTP server over real loopback sockets: framing, bounds, time-outs, leaving clients, draining.
#include "raw_client.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/http_listener.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace agones_alloc;
using namespace beast_test;

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

auto small() -> http_limits {
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

auto get(std::string path) -> std::string { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"; }
auto post(std::string body) -> std::string {
  return "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

TEST_CASE("a request reaches the handler with its parts, and the answer comes back on a kept connection") {
  fixture f;
  auto client = f.client();
  auto const one = client.ask("POST /a/b?c=d%20e HTTP/1.1\r\nhOst: here\r\nAccept: a/b\r\naccept: c/d\r\nContent-Length: 5\r\n\r\nhello");
  CHECK(one.status == 200);
  CHECK(one.body == "hello");
  CHECK(one.field("x-path") == "/a/b");
  CHECK(one.field("content-type") == "text/plain");
  CHECK(one.field("date") == "Sun, 13 Sep 2020 12:26:40 GMT");
  CHECK(one.field("connection").empty());
  REQUIRE(f.handler.requests.size() == 1);
  auto const& seen = f.handler.requests[0];
  CHECK(seen.method == "POST");
  CHECK(seen.path == "/a/b");
  CHECK(seen.query == "c=d%20e");
  CHECK(seen.body == "hello");
  CHECK(seen.host == "here");
  CHECK(seen.accept == "a/b, c/d");
  CHECK(client.ask(get("/second")).field("x-path") == "/second");
  CHECK(f.observer.open == 1);
  CHECK(f.observer.finished == std::vector<std::string>{" POST 200", " GET 200"});
}

TEST_CASE("HEAD is answered with the length and without the body") {
  fixture f;
  auto client = f.client();
  auto const one = client.ask("HEAD /h HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", true);
  CHECK(one.status == 200);
  CHECK(one.field("content-length") == "3");
  CHECK(client.ask(get("/next")).field("x-path") == "/next");
}

TEST_CASE("chunked bodies are joined") {
  fixture f;
  auto client = f.client();
  auto const one = client.ask("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\n\r\n");
  CHECK(one.status == 200);
  CHECK(one.body == "abcde");
}

TEST_CASE("a request may arrive byte by byte") {
  fixture f;
  auto client = f.client();
  for (char const c : post("slow but in time")) REQUIRE(client.send({&c, 1}));
  CHECK(client.receive().body == "slow but in time");
}

TEST_CASE("HTTP/1.0 closes unless keep-alive is asked for, and HTTP/1.1 keeps unless close is asked for") {
  fixture f;
  auto old = f.client();
  CHECK(old.ask("GET /a HTTP/1.0\r\n\r\n").field("connection") == "close");
  CHECK(old.ends());
  auto kept = f.client();
  CHECK(kept.ask("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").field("connection") == "keep-alive");
  CHECK(kept.ask(get("/b")).status == 200);
  auto closing = f.client();
  CHECK(closing.ask("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").field("connection") == "close");
  CHECK(closing.ends());
}

TEST_CASE("pipelined requests are answered one by one and in order") {
  fixture f;
  f.handler.hold = true;
  auto client = f.client();
  client.send(get("/1") + get("/2") + get("/3"));
  f.until([&] { return f.handler.held.size() == 1; });
  settle(f.io);
  CHECK(f.handler.requests.size() == 1);
  for (auto const* body : {"one", "two", "three"}) {
    f.until([&] { return f.handler.held.size() == 1; });
    f.handler.release(body);
    CHECK(client.receive().body == body);
  }
  CHECK(f.handler.requests[2].path == "/3");
}

TEST_CASE("pipelined garbage is answered with 400 after the good request, and ends the connection") {
  fixture f;
  auto client = f.client();
  client.send(get("/good") + std::string("\x01\x02 garbage\r\n\r\n"));
  CHECK(client.receive().status == 200);
  CHECK(client.receive().status == 400);
  CHECK(client.ends());
  CHECK(f.handler.requests.size() == 1);
}

TEST_CASE("input that is no HTTP is refused and never reaches the handler") {
  struct row {
    std::string input;
    int status;
  };
  std::vector<row> const rows{
      {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400},  // TLS to a plain port
      {"GET\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},                                     // no Host
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET example HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n", 417},
      {"GET / HTTP/1.1\r\nHost: a\r\nA: \x01\r\n\r\n", 400},
  };
  for (auto const& [input, status] : rows) {
    CAPTURE(input);
    fixture f;
    auto client = f.client();
    auto const answer = client.ask(input);
    CHECK(answer.status == status);
    CHECK(answer.field("connection") == "close");
    CHECK(answer.body.size() > 10);
    CHECK(client.ends());
    CHECK(f.handler.requests.empty());
    REQUIRE(f.observer.finished.size() == 1);
    CHECK(f.observer.finished[0] == "protocol  " + std::to_string(status));
  }
}

TEST_CASE("a body over the limit is 413, announced or not, and the answer can be read in full") {
  fixture f{small()};
  auto announced = f.client();
  announced.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n" + std::string(101, 'x'));
  auto const answer = announced.receive();
  CHECK(answer.status == 413);
  CHECK(answer.body == "the request's body is larger than 100 bytes\n");
  auto chunked = f.client();
  chunked.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n" + std::string(64, 'x') + "\r\n40\r\n" +
               std::string(64, 'x') + "\r\n0\r\n\r\n");
  CHECK(chunked.receive().status == 413);
  auto exact = f.client();
  CHECK(exact.ask(post(std::string(100, 'y'))).body == std::string(100, 'y'));
  CHECK(f.handler.requests.size() == 1);
}

TEST_CASE("what is sent after a refusal is dropped up to a bound") {
  fixture f{small()};
  auto client = f.client();
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
  CHECK(client.receive().status == 413);
  std::size_t sent = 0;
  while (f.listener.connections() == 1 && sent < 1'000'000) {
    client.send(std::string(1000, 'x'));
    sent += 1000;
  }
  CHECK(f.listener.connections() == 0);
  CHECK(sent < 500'000);
}

TEST_CASE("a header over the limit is 431, however it is made up") {
  for (auto const& input : {"GET /" + std::string(600, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n",
                            "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(600, 'a') + "\r\n\r\n",
                            "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(600, 'a')}) {
    fixture f{small()};
    auto client = f.client();
    auto const answer = client.ask(input);
    CHECK(answer.status == 431);
    CHECK(answer.body == "the request's header is larger than 512 bytes\n");
    CHECK(client.ends());
  }
}

TEST_CASE("Expect: 100-continue is honoured before the body, and a body too large is refused without it") {
  fixture f{small()};
  auto client = f.client();
  client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  CHECK(client.receive().status == 100);
  client.send("hello");
  CHECK(client.receive().body == "hello");
  CHECK(client.ask("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n").status == 413);
  auto eager = f.client();
  CHECK(eager.ask("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello").body == "hello");
}

TEST_CASE("a header that does not end is 408 at its time-out, however many bytes keep coming") {
  fixture f{small()};
  auto client = f.client();
  client.send("GET / HTTP/1.1\r\n");
  for (int i = 0; i < 9; ++i) {
    f.time.advance(std::chrono::seconds{1});
    REQUIRE(client.send("A: b\r\n"));
  }
  CHECK(f.listener.connections() == 1);
  f.time.advance(std::chrono::seconds{1});
  auto const answer = client.receive();
  CHECK(answer.status == 408);
  CHECK(answer.body == "the request's header took too long to arrive\n");
  CHECK(client.ends());
  CHECK(f.observer.cuts == std::vector<std::string>{"slow request"});
}

TEST_CASE("a body that does not end is 408 at its own time-out") {
  fixture f{small()};
  auto client = f.client();
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nabc");
  f.time.advance(std::chrono::seconds{19});
  settle(f.io);
  REQUIRE(client.send("d"));
  CHECK(f.observer.cuts.empty());
  f.time.advance(std::chrono::seconds{10});
  auto const answer = client.receive();
  CHECK(answer.status == 408);
  CHECK(answer.body == "the request's body took too long to arrive\n");
}

TEST_CASE("an idle connection is closed at its time-out and not before") {
  fixture f{small()};
  auto client = f.client();
  CHECK(client.ask(get("/")).status == 200);
  for (int i = 0; i < 5; ++i) {
    f.time.advance(std::chrono::seconds{10});
    settle(f.io);
  }
  CHECK(f.listener.connections() == 1);
  for (int i = 0; i < 2; ++i) {
    f.time.advance(std::chrono::seconds{10});
    settle(f.io);
  }
  CHECK(client.ends());
  CHECK(f.listener.connections() == 0);
  CHECK(f.observer.cuts == std::vector<std::string>{"idle"});
}

TEST_CASE("a handler may take longer than every time-out of the connection") {
  fixture f{small()};
  f.handler.hold = true;
  auto client = f.client();
  client.send(get("/"));
  f.until([&] { return !f.handler.held.empty(); });
  for (int i = 0; i < 30; ++i) {
    f.time.advance(std::chrono::seconds{10});
    settle(f.io);
  }
  CHECK(f.handler.cancelled == 0);
  f.handler.release("took its time");
  CHECK(client.receive().body == "took its time");
}

TEST_CASE("a client that does not take its answer is cut") {
  fixture f{small()};
  f.handler.hold = true;
  auto client = f.client();
  client.send(get("/"));
  f.until([&] { return !f.handler.held.empty(); });
  f.handler.release(std::string(64U << 20, 'x'));
  settle(f.io);
  REQUIRE(f.listener.connections() == 1);
  for (int i = 0; i < 4; ++i) {
    f.time.advance(std::chrono::seconds{10});
    settle(f.io);
  }
  CHECK(f.listener.connections() == 0);
  CHECK(f.observer.cuts == std::vector<std::string>{"slow reader"});
}

TEST_CASE("a client that leaves while its request waits cancels the request") {
  fixture f;
  f.handler.hold = true;
  auto client = f.client();
  client.send(post("x"));
  f.until([&] { return !f.handler.held.empty(); });
  CHECK(f.handler.cancelled == 0);
  client.close();
  f.until([&] { return f.handler.cancelled == 1; });
  f.handler.release();
  f.until([&] { return f.listener.connections() == 0; });
}

TEST_CASE("a client that only stopped sending is cancelled too, but still gets the answer") {
  fixture f;
  f.handler.hold = true;
  auto client = f.client();
  client.send(post("x"));
  client.shut_sending();
  f.until([&] { return f.handler.cancelled == 1; });
  f.handler.release("who knows");
  auto const answer = client.receive();
  CHECK(answer.body == "who knows");
  CHECK(answer.field("connection") == "close");
}

TEST_CASE("above the limit of connections the one that has kept the server waiting longest goes") {
  fixture f{small()};
  auto oldest = f.client();
  oldest.send("GET / HT");
  f.time.advance(std::chrono::seconds{1});
  auto second = f.client();
  second.send("GET / HT");
  f.time.advance(std::chrono::seconds{1});
  auto third = f.client();
  CHECK(third.ask(get("/third")).field("x-path") == "/third");
  CHECK(oldest.ends());
  CHECK(second.ask("TP/1.1\r\nHost: x\r\n\r\n").status == 200);
  CHECK(f.listener.connections() == 2);
  CHECK(f.observer.cuts == std::vector<std::string>{"too many connections"});
}

TEST_CASE("when every connection is being served a further one is told 503") {
  fixture f{small()};
  f.handler.hold = true;
  auto one = f.client();
  one.send(get("/1"));
  auto two = f.client();
  two.send(get("/2"));
  f.until([&] { return f.handler.held.size() == 2; });
  auto three = f.client();
  auto const answer = three.receive();
  CHECK(answer.status == 503);
  CHECK(answer.body == "too many connections\n");
  f.handler.release("1");
  CHECK(one.receive().body == "1");
  f.handler.release("2");
  CHECK(two.receive().body == "2");
}

TEST_CASE("draining closes idle connections, finishes requests in flight and accepts no more") {
  fixture f;
  f.handler.hold = true;
  auto idle = f.client();
  auto busy = f.client();
  busy.send(get("/busy"));
  f.until([&] { return !f.handler.held.empty() && f.listener.connections() == 2; });
  std::optional<error_code> drained;
  f.listener.async_drain(f.time.now() + std::chrono::seconds{5}, [&](error_code ec) { drained = ec; });
  CHECK(idle.ends());
  CHECK_FALSE(drained);
  CHECK_THROWS(f.client());
  f.handler.release("finished");
  auto const answer = busy.receive();
  CHECK(answer.body == "finished");
  CHECK(answer.field("connection") == "close");
  busy.close();
  f.until([&] { return drained.has_value(); });
  CHECK_FALSE(*drained);
}

TEST_CASE("draining cuts and cancels what is not finished at its deadline") {
  fixture f;
  f.handler.hold = true;
  auto busy = f.client();
  busy.send(get("/busy"));
  f.until([&] { return !f.handler.held.empty(); });
  std::optional<error_code> drained;
  f.listener.async_drain(f.time.now() + std::chrono::seconds{5}, [&](error_code ec) { drained = ec; });
  settle(f.io);
  CHECK_FALSE(drained);
  f.time.advance(std::chrono::seconds{5});
  f.until([&] { return drained.has_value(); });
  CHECK(*drained == errc::deadline_exceeded);
  CHECK(f.handler.cancelled == 1);
  CHECK(busy.ends());
  f.handler.release();  // late: nobody is there
}

TEST_CASE("draining an idle listener completes, and closing one that drains says cancelled") {
  fixture f;
  std::optional<error_code> first;
  f.listener.async_drain(f.time.now() + std::chrono::seconds{5}, [&](error_code ec) { first = ec; });
  CHECK_FALSE(first);
  f.until([&] { return first.has_value(); });
  CHECK_FALSE(*first);

  fixture g;
  g.handler.hold = true;
  auto busy = g.client();
  busy.send(get("/busy"));
  g.until([&] { return !g.handler.held.empty(); });
  std::optional<error_code> second;
  g.listener.async_drain(g.time.now() + std::chrono::seconds{5}, [&](error_code ec) { second = ec; });
  g.listener.close();
  g.until([&] { return second.has_value(); });
  CHECK(*second == errc::cancelled);
}

TEST_CASE("a line break in an answer's field does not start another field") {
  class bad final : public http_handler {
    void handle(http_request const&, reply done) override {
      http_response out;
      out.headers.emplace_back("A", "b\r\nInjected: yes");
      std::move(done)(std::move(out));
    }
  } handler;
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  http_listener listener{io.get_executor(), handler, time};
  REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
  raw_client client{io, listener.port()};
  auto const answer = client.ask(get("/"));
  CHECK(answer.field("a") == "b  Injected: yes");
  CHECK(answer.field("injected").empty());
}

TEST_CASE("a listener says what is wrong with its address and its limits") {
  fixture f;
  http_listener second{f.io.get_executor(), f.handler, f.time};
  CHECK(second.listen("127.0.0.1", f.listener.port()) == boost::system::errc::address_in_use);
  CHECK(second.listen("localhost", 0) == errc::invalid_request);
  CHECK_FALSE(second.listen("::1", 0));
  http_limits limits;
  limits.header_bytes = 1;
  CHECK_THROWS_WITH(http_listener(f.io.get_executor(), f.handler, f.time, limits), "http_limits::header_bytes is out of range");
}
