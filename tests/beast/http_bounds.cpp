// The HTTP server over real loopback sockets: limits, time-outs, refusals, draining.
#include "http_fixture.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace agones_alloc;
using namespace beast_test;

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
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\na", 415},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: identity, br\r\nContent-Length: 1\r\n\r\na", 415},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n", 417},
      {"GET / HTTP/1.1\r\nHost: a\r\nA: \x01\r\n\r\n", 400},
  };
  for (auto const& each : rows) {
    CAPTURE(each.input);
    auto const& [input, status] = each;
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

TEST_CASE("the limit of a header counts every byte of it, in however many pieces it arrives") {
  for (std::size_t const size : {512U, 513U}) {
    std::string header = "GET / HTTP/1.1\r\nHost: x\r\nA: ";
    header.append(size - header.size() - 4, 'a').append("\r\n\r\n");
    for (std::size_t const first : {std::size_t{0}, std::size_t{10}, std::size_t{30}, size - 1}) {
      CAPTURE(size);
      CAPTURE(first);
      fixture f{small()};
      auto client = f.client();
      REQUIRE(client.send(header.substr(0, first)));
      CHECK(client.ask(header.substr(first)).status == (size == 512 ? 200 : 431));
    }
  }
}

TEST_CASE("chunk extensions and trailers without end are 431") {
  for (auto const* start : {"1;x=", "1\r\na\r\n0\r\nA: ", "1\r\na\r\n1;x="}) {
    CAPTURE(start);
    fixture f{small()};
    auto client = f.client();
    REQUIRE(client.send(std::string{"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"} + start));
    for (int i = 0; i < 10; ++i) client.send(std::string(600, 'e'));
    CHECK(client.receive().status == 431);
    CHECK(client.ends());
    CHECK(f.handler.requests.empty());
  }
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

TEST_CASE("whoever sent something goes after those that were silent meanwhile") {
  fixture f{small()};
  auto active = f.client();
  f.until([&] { return f.listener.connections() == 1; });
  auto silent = f.client();
  f.until([&] { return f.listener.connections() == 2; });
  CHECK(active.ask(get("/")).status == 200);  // at the same instant of the clock: what counts is the order
  auto third = f.client();
  CHECK(silent.ends());
  CHECK(third.ask(get("/")).status == 200);
  auto fourth = f.client();
  CHECK(active.ends());
  CHECK(third.ask(get("/")).status == 200);
  CHECK(fourth.ask(get("/")).status == 200);
  CHECK(f.observer.cuts == std::vector<std::string>(2, "too many connections"));
}

TEST_CASE("a connection that is being served stays however old it is, and may go again once it has its answer") {
  fixture f{small()};
  f.handler.hold = true;
  auto oldest = f.client();
  oldest.send(get("/"));
  f.until([&] { return f.handler.held.size() == 1; });
  auto second = f.client();
  f.until([&] { return f.listener.connections() == 2; });
  auto third = f.client();
  CHECK(second.ends());
  f.handler.release("kept");
  CHECK(oldest.receive().body == "kept");
  auto fourth = f.client();
  CHECK(third.ends());  // silent for longer than the first, which had an answer since
  auto fifth = f.client();
  CHECK(oldest.ends());
  CHECK(f.listener.connections() == 2);
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

TEST_CASE("a drain is no failure when every client has its answer, however long they keep their connections") {
  fixture f;
  f.handler.hold = true;
  auto busy = f.client();
  busy.send(get("/busy"));
  f.until([&] { return !f.handler.held.empty(); });
  std::optional<error_code> drained;
  auto const drain = [&](std::chrono::milliseconds grace) {
    f.listener.async_drain(f.time.now() + grace, [&](error_code ec) { drained = ec; });
    f.handler.release("finished");
    CHECK(busy.receive().body == "finished");
    settle(f.io);
    CHECK(f.listener.connections() == 1);  // it could still have unread input
    CHECK_FALSE(drained);
  };
  SUBCASE("they go a second after their answer") {
    drain(std::chrono::seconds{5});
    f.time.advance(std::chrono::seconds{1});
  }
  SUBCASE("or at the deadline when that is nearer") {
    drain(std::chrono::milliseconds{500});
    f.time.advance(std::chrono::milliseconds{500});
  }
  f.until([&] { return drained.has_value(); });
  CHECK_FALSE(*drained);
  CHECK(f.listener.connections() == 0);
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

namespace {

/// Takes all file descriptors but a few.
class few_descriptors {
 public:
  explicit few_descriptors(int left) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    rlimit now = before_;
    now.rlim_cur = 256;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &now) == 0);
    for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) taken_.push_back(fd);
    for (; left != 0; --left) give_back();
  }
  ~few_descriptors() {
    while (!taken_.empty()) give_back();
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  few_descriptors(few_descriptors const&) = delete;
  auto operator=(few_descriptors const&) -> few_descriptors& = delete;

 private:
  void give_back() {
    ::close(taken_.back());
    taken_.pop_back();
  }
  rlimit before_{};
  std::vector<int> taken_;
};

}  // namespace

TEST_CASE("when the system has no descriptors left the one that has waited longest goes, and the new one is served") {
  fixture f;
  few_descriptors const few{6};  // three clients with both their ends; accepting wants one that is free
  auto oldest = f.client();
  f.until([&] { return f.listener.connections() == 1; });
  f.time.advance(std::chrono::seconds{1});
  auto second = f.client();
  f.until([&] { return f.listener.connections() == 2; });
  auto third = f.client();
  CHECK(third.ask(get("/third")).field("x-path") == "/third");
  CHECK(oldest.ends());
  CHECK(second.ask(get("/second")).status == 200);
  CHECK(f.observer.cuts == std::vector<std::string>{"no descriptors left"});
}

TEST_CASE("without descriptors and with nobody to send away the server tries again later") {
  fixture f;
  f.handler.hold = true;
  std::optional<few_descriptors> few;
  few.emplace(3);
  auto busy = f.client();
  busy.send(get("/busy"));
  f.until([&] { return !f.handler.held.empty(); });
  auto other = f.client();
  settle(f.io);
  CHECK(f.listener.connections() == 1);
  few.reset();
  f.time.advance(std::chrono::milliseconds{100});
  f.until([&] { return f.listener.connections() == 2; });
  f.handler.release("served");
  CHECK(busy.receive().body == "served");
}
