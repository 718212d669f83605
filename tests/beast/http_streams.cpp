// Answers whose body is made while it is sent: chunks, slow and leaving clients, the end of the server.
#include "http_fixture.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace agones_alloc;
using namespace beast_test;

namespace {

/// Gives the pieces that the test says, when it says so.
class fake_stream final : public http_body_stream {
 public:
  void next(std::function<void(piece)> then) override {
    ++asked;
    if (endless) return then(std::make_shared<std::string const>(1 << 16, 'x'));
    waiting = std::move(then);
  }
  void stop() override {
    ++stops;
    waiting = nullptr;
  }
  void give(std::string text) { std::exchange(waiting, nullptr)(std::make_shared<std::string const>(std::move(text))); }
  void end() { std::exchange(waiting, nullptr)(nullptr); }

  std::function<void(piece)> waiting;
  int asked{0};
  int stops{0};
  bool endless{false};
};

struct streaming final : http_handler {
  void handle(http_request const&, reply done) override {
    http_response out;
    out.content_type = "text/plain";
    out.stream = stream;
    std::move(done)(std::move(out));
  }
  std::shared_ptr<fake_stream> stream = std::make_shared<fake_stream>();
};

struct stream_fixture {
  explicit stream_fixture(http_limits limits = small())
      : listener{io.get_executor(), handler, time, limits, nullptr, &observer} {
    REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
  }
  ~stream_fixture() {
    listener.close();
    settle(io);
    CHECK(listener.connections() == 0);
    CHECK(time.pending() == 0);
    CHECK(stream().use_count() == 1);
  }
  auto client() -> raw_client { return {io, listener.port()}; }
  auto stream() -> std::shared_ptr<fake_stream>& { return handler.stream; }
  void until(std::function<bool()> const& done) { run_until(io, done); }
  void until_asked(int times) {
    until([this, times] { return stream()->asked >= times; });
  }

  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  streaming handler;
  watching observer;
  http_listener listener;
};

}  // namespace

TEST_CASE("a stream is sent in chunks as they come, and the connection is kept after its end") {
  stream_fixture f;
  auto client = f.client();
  auto const head = client.ask(get("/a"));
  CHECK(head.status == 200);
  CHECK(head.field("transfer-encoding") == "chunked");
  CHECK(head.field("content-length").empty());
  f.until_asked(1);
  f.stream()->give("one");
  CHECK(client.receive_until("one\r\n") == "3\r\none\r\n");
  f.until_asked(2);
  f.stream()->give(std::string(26, 'y'));
  CHECK(client.receive_until("y\r\n") == "1a\r\n" + std::string(26, 'y') + "\r\n");
  f.until_asked(3);
  f.stream()->end();
  CHECK(client.receive_until("0\r\n\r\n") == "0\r\n\r\n");
  CHECK(client.ask(get("/b")).field("transfer-encoding") == "chunked");
}

TEST_CASE("a piece is asked for only when the client has taken the one before, and who never does is cut") {
  stream_fixture f;
  f.stream()->endless = true;
  auto client = f.client();
  REQUIRE(client.ask(get("/a")).status == 200);
  settle(f.io);  // the kernel's buffers fill up
  auto const stuck = f.stream()->asked;
  CHECK(stuck > 1);
  f.time.advance(std::chrono::seconds{31});
  f.until([&] { return f.listener.connections() == 0; });
  CHECK(f.stream()->asked == stuck);
  CHECK(f.stream()->stops == 1);
  CHECK(f.observer.cuts == std::vector<std::string>{"slow reader"});
}

TEST_CASE("a stream that waits has no deadline of the connection's") {
  stream_fixture f;
  auto client = f.client();
  REQUIRE(client.ask(get("/a")).status == 200);
  f.until_asked(1);
  for (int i = 0; i != 100; ++i) {
    f.time.advance(std::chrono::minutes{5});
    settle(f.io);
  }
  CHECK(f.observer.cuts.empty());
  f.stream()->give("late");
  CHECK(client.receive_until("late\r\n") == "4\r\nlate\r\n");
}

TEST_CASE("a client that leaves ends its stream") {
  stream_fixture f;
  auto client = f.client();
  REQUIRE(client.ask(get("/a")).status == 200);
  f.until_asked(1);
  client.close();
  f.until([&] { return f.listener.connections() == 0; });
  CHECK(f.stream()->stops == 1);
}

TEST_CASE("a drain ends streams properly") {
  stream_fixture f;
  auto client = f.client();
  REQUIRE(client.ask(get("/a")).status == 200);
  f.until_asked(1);
  bool drained = false;
  error_code how;
  f.listener.async_drain(f.time.now() + std::chrono::seconds{10}, [&](error_code ec) {
    how = ec;
    drained = true;
  });
  CHECK(client.receive_until("0\r\n\r\n") == "0\r\n\r\n");
  CHECK(client.ends());
  CHECK(f.stream()->stops == 1);
  client.close();
  f.until([&] { return drained; });
  CHECK_FALSE(how);
}

TEST_CASE("a request that was pipelined behind a stream is answered after it") {
  stream_fixture f;
  auto client = f.client();
  client.send(get("/a") + get("/b"));
  CHECK(client.receive().field("transfer-encoding") == "chunked");
  f.until_asked(1);
  f.stream()->end();
  CHECK(client.receive_until("0\r\n\r\n") == "0\r\n\r\n");
  CHECK(client.receive().field("transfer-encoding") == "chunked");
}

TEST_CASE("HEAD gets a stream's head only, and HTTP/1.0 its bytes until the connection's end") {
  stream_fixture f;
  auto client = f.client();
  CHECK(client.ask("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n", true).field("transfer-encoding") == "chunked");
  CHECK(f.stream()->asked == 0);
  CHECK(f.stream()->stops == 1);
  auto old = f.client();
  auto const head = old.ask("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CHECK(head.field("transfer-encoding").empty());
  CHECK(head.field("connection") == "close");
  f.until_asked(1);
  f.stream()->give("plain");
  CHECK(old.receive_until("plain") == "plain");
  f.until_asked(2);
  f.stream()->end();
  CHECK(old.ends());
}
