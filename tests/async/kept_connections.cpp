// Checks over HTTP whose connection is kept for the next one, against peers that keep, close, hang and lie. Nothing here depends on how
// long anything takes.
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/detail/kept_connections.hpp>
#include <agones_alloc/async/socket_probe.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace agones_alloc;
using namespace std::chrono_literals;

namespace {

using tcp = boost::asio::ip::tcp;

auto answer_of(std::string const& status, std::string const& body = {}) -> std::string {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
auto not_yet() -> std::string { return answer_of("503 Not yet", "not yet"); }

/// A game whose answers the test makes.
class peer {
 public:
  struct link {
    explicit link(tcp::socket s) : socket{std::move(s)} {}
    tcp::socket socket;
    std::string read;
    std::size_t number{0};    ///< of the connection, from 0
    std::size_t requests{0};  ///< on it so far
    void say(std::string text) {
      auto const kept = std::make_shared<std::string>(std::move(text));
      boost::asio::async_write(socket, boost::asio::buffer(*kept), [kept](error_code, std::size_t) {});
    }
    void hang_up() {
      error_code ignored;
      socket.shutdown(tcp::socket::shutdown_both, ignored);
      socket.close(ignored);
    }
  };

  explicit peer(boost::asio::io_context& context) : acceptor_{context, {boost::asio::ip::make_address("127.0.0.1"), 0}} { accept(); }
  auto port() const -> std::uint16_t { return acceptor_.local_endpoint().port(); }

  std::function<void(link&)> asked{[](link& one) { one.say(not_yet()); }};
  std::vector<std::shared_ptr<link>> links;
  std::string last;      ///< request
  std::size_t left{0};   ///< connections that the other side closed

 private:
  void accept() {
    acceptor_.async_accept([this](error_code ec, tcp::socket socket) {
      if (ec) return;
      auto const one = std::make_shared<link>(std::move(socket));
      one->number = links.size();
      links.push_back(one);
      listen(one);
      accept();
    });
  }
  void listen(std::shared_ptr<link> const& one) {
    boost::asio::async_read_until(one->socket, boost::asio::dynamic_buffer(one->read, 8192), "\r\n\r\n", [this, one](error_code ec, std::size_t size) {
      if (ec) {
        if (one->socket.is_open()) ++left;
        return;
      }
      last = one->read.substr(0, size);
      one->read.erase(0, size);
      ++one->requests;
      asked(*one);
      if (one->socket.is_open()) listen(one);
    });
  }

  tcp::acceptor acceptor_;
};

struct kept_fixture {
  boost::asio::io_context context;
  asio_timer clock{context.get_executor()};
  peer game{context};
  std::unique_ptr<socket_probe> probe{std::make_unique<socket_probe>(context.get_executor())};

  auto now() const { return clock.now(); }

  auto target(std::string id = "uid/match", std::chrono::milliseconds time = 60s) const -> probe_target {
    return {probe_target::protocol::http, "127.0.0.1", game.port(), "/ready", now() + time, now() + 10min, std::move(id)};
  }
  template <class Condition>
  void run_until(Condition done) {
    auto const give_up = now() + 120s;
    context.restart();
    while (!done()) {
      REQUIRE(now() < give_up);
      context.run_one_for(1s);
    }
  }
  auto ask(probe_target of) -> probe_answer {
    std::optional<probe_answer> got;
    probe->async_probe(std::move(of), [&](error_code ec, probe_answer what) {
      CHECK_FALSE(ec);
      REQUIRE_FALSE(got);
      got = what;
    });
    run_until([&] { return got.has_value(); });
    return *got;
  }
  auto ask() -> probe_answer { return ask(target()); }
};

}  // namespace

TEST_CASE_FIXTURE(kept_fixture, "a game that keeps its connection is asked on it again and again, until it is ready") {
  game.asked = [](peer::link& one) { one.say(one.requests < 4 ? not_yet() : answer_of("200 OK")); };
  for (int i = 0; i != 3; ++i) CHECK(ask() == probe_answer::pending);
  CHECK(ask() == probe_answer::ready);
  CHECK(game.links.size() == 1);
  CHECK(game.last.starts_with("GET /ready HTTP/1.1\r\n"));
  CHECK(game.last.find("Connection:") == std::string::npos);
  // It is not asked again, as a rule.
  run_until([&] { return game.left == 1; });
}

TEST_CASE_FIXTURE(kept_fixture, "a connection is kept for its own server and its own wait, and for nobody else") {
  CHECK(ask() == probe_answer::pending);
  CHECK(ask(target("another uid/match")) == probe_answer::pending);
  CHECK(ask(target("uid/another match")) == probe_answer::pending);
  CHECK(game.links.size() == 3);
  peer other{context};
  auto elsewhere = target();
  elsewhere.port = other.port();
  CHECK(ask(std::move(elsewhere)) == probe_answer::pending);
  CHECK(other.links.size() == 1);
  CHECK(ask() == probe_answer::pending);
  CHECK(game.links.size() == 3);
  CHECK(game.links[0]->requests == 2);
}

TEST_CASE_FIXTURE(kept_fixture, "without an id, or a time to keep it for, a connection is closed at the end of the try") {
  auto one = target();
  SUBCASE("no id") { one.id.clear(); }
  SUBCASE("no time") { one.until = {}; }
  CHECK(ask(one) == probe_answer::pending);
  CHECK(game.last.find("Connection: close\r\n") != std::string::npos);
  run_until([&] { return game.left == 1; });
  CHECK(ask(one) == probe_answer::pending);
  CHECK(game.links.size() == 2);
}

TEST_CASE_FIXTURE(kept_fixture, "a game whose answer has no end, lies about it, or says that it closes is asked on a new connection") {
  std::string text;
  SUBCASE("no length") { text = "HTTP/1.1 503 Not yet\r\n\r\n"; }
  SUBCASE("less than there is") { text = "HTTP/1.1 503 Not yet\r\nContent-Length: 3\r\n\r\nno!HTTP/1.1 200 OK\r\n\r\n"; }
  SUBCASE("more than will be read") { text = "HTTP/1.1 503 Not yet\r\nContent-Length: 99999999\r\n\r\nshort"; }
  SUBCASE("two of them") { text = "HTTP/1.1 503 Not yet\r\nContent-Length: 0\r\nContent-Length: 19\r\n\r\n"; }
  SUBCASE("chunks") { text = "HTTP/1.1 503 Not yet\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"; }
  SUBCASE("closes") { text = "HTTP/1.1 503 Not yet\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"; }
  SUBCASE("old") { text = "HTTP/1.0 503 Not yet\r\nContent-Length: 0\r\n\r\n"; }
  game.asked = [&](peer::link& one) { one.say(text); };
  CHECK(ask() == probe_answer::pending);
  run_until([&] { return game.left == 1; });
  CHECK(ask() == probe_answer::pending);
  CHECK(game.links.size() == 2);
  CHECK(game.links[0]->requests == 1);
}

TEST_CASE_FIXTURE(kept_fixture, "a game that redirects is asked at the same place again, on the same connection") {
  game.asked = [](peer::link& one) { one.say("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"); };
  CHECK(ask() == probe_answer::pending);
  CHECK(ask() == probe_answer::pending);
  CHECK(game.links.size() == 1);
  CHECK(game.last.starts_with("GET /ready "));
}

TEST_CASE_FIXTURE(kept_fixture, "a game that says less than its length is heard at once, and the connection is kept when the rest has come") {
  game.asked = [](peer::link& one) {
    if (one.number == 0) one.say(one.requests == 1 ? "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nno" : not_yet());
  };
  CHECK(ask() == probe_answer::failed);
  CHECK(ask(target("uid/match", 10ms)) == probe_answer::pending);  // on another one, which hangs
  CHECK(game.links[0]->requests == 1);
  game.links[0]->say("!!");
  while (game.links[0]->requests == 1) ask(target("uid/match", 10ms));
  CHECK(game.links[0]->requests == 2);
}

TEST_CASE_FIXTURE(kept_fixture, "a game that never says the rest of its answer is left at the end of the try") {
  game.asked = [](peer::link& one) { one.say("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nno"); };
  CHECK(ask(target("uid/match", 1s)) == probe_answer::failed);
  run_until([&] { return game.left == 1; });
}

TEST_CASE_FIXTURE(kept_fixture, "a game that closes a kept connection meanwhile is asked on a new one, and the try counts once") {
  SUBCASE("between the checks") {
    game.asked = [](peer::link& one) {
      one.say(answer_of("404 Not Found"));
      one.socket.shutdown(tcp::socket::shutdown_send);
    };
  }
  SUBCASE("when it is asked again") {
    game.asked = [](peer::link& one) {
      if (one.requests == 2) return one.hang_up();
      one.say(answer_of("404 Not Found"));
    };
  }
  for (int i = 0; i != 3; ++i) CHECK(ask() == probe_answer::failed);
  CHECK(game.links.size() == 3);
}

TEST_CASE_FIXTURE(kept_fixture, "a game that hangs up on the new connection, too, is not ready, and is not asked a third time") {
  game.asked = [](peer::link& one) {
    if (one.number == 0 && one.requests == 1) return one.say(not_yet());
    one.hang_up();
  };
  CHECK(ask() == probe_answer::pending);
  CHECK(ask() == probe_answer::pending);
  CHECK(game.links.size() == 2);
}

TEST_CASE_FIXTURE(kept_fixture, "a game that hangs up in the middle of an answer is not asked again in the same try") {
  game.asked = [](peer::link& one) {
    if (one.requests == 1) return one.say(not_yet());
    boost::asio::write(one.socket, boost::asio::buffer(std::string{"HTTP/1.1 2"}));
    one.hang_up();
  };
  CHECK(ask() == probe_answer::pending);
  CHECK(ask() == probe_answer::pending);
  CHECK(game.links.size() == 1);
}

TEST_CASE_FIXTURE(kept_fixture, "a game that hangs on a kept connection, and answers late, is asked on a new one by the next try") {
  game.asked = [](peer::link& one) {
    if (one.number != 0 || one.requests == 1) one.say(not_yet());
  };
  CHECK(ask() == probe_answer::pending);
  CHECK(ask(target("uid/match", 50ms)) == probe_answer::pending);
  CHECK(game.links.size() == 1);
  game.links[0]->say(answer_of("200 OK"));
  CHECK(ask() == probe_answer::pending);
  CHECK(game.links.size() == 2);
}

TEST_CASE_FIXTURE(kept_fixture, "so many connections are kept and no more, so that those that go round find theirs") {
  probe = std::make_unique<socket_probe>(context.get_executor(), 2);
  for (auto const* const id : {"a", "b", "c"}) CHECK(ask(target(id)) == probe_answer::pending);
  run_until([&] { return game.left == 1; });
  CHECK(ask(target("a")) == probe_answer::pending);
  CHECK(ask(target("b")) == probe_answer::pending);
  CHECK(game.links.size() == 3);
  CHECK(ask(target("c")) == probe_answer::pending);
  CHECK(game.links.size() == 4);
  run_until([&] { return game.left == 2; });
  probe = std::make_unique<socket_probe>(context.get_executor(), 0);
  run_until([&] { return game.left == 4; });
  CHECK(ask() == probe_answer::pending);
  run_until([&] { return game.left == 5; });
}

TEST_CASE_FIXTURE(kept_fixture, "a kept connection is closed when its time is over, and when the probe goes") {
  auto one = target();
  SUBCASE("its time") {
    one.until = now() + 1ms;
    CHECK(ask(one) == probe_answer::pending);
  }
  SUBCASE("the probe") {
    CHECK(ask(one) == probe_answer::pending);
    probe.reset();
  }
  run_until([&] { return game.left == 1; });
}

namespace {

/// As long as it is there, no more descriptors can be had.
class no_descriptors {
 public:
  no_descriptors() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    auto const highest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    REQUIRE(highest >= 0);
    auto low = before_;
    low.rlim_cur = static_cast<rlim_t>(highest) + 1;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    taken_.push_back(highest);
    while (true) {
      auto const one = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (one < 0) break;
      taken_.push_back(one);
    }
  }
  ~no_descriptors() {
    for (auto const one : taken_) ::close(one);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  no_descriptors(no_descriptors const&) = delete;
  auto operator=(no_descriptors const&) -> no_descriptors& = delete;

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

}  // namespace

TEST_CASE_FIXTURE(kept_fixture, "when descriptors run out idle connections are given up for a check") {
  // Accepted by the system, and by us later.
  tcp::acceptor other{context, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  CHECK(ask() == probe_answer::pending);
  auto elsewhere = target("b");
  elsewhere.how = probe_target::protocol::tcp;
  elsewhere.port = other.local_endpoint().port();
  {
    no_descriptors const none;
    CHECK(ask(elsewhere) == probe_answer::ready);
    run_until([&] { return game.left == 1; });
  }
  {
    // Nothing is left to be given up.
    no_descriptors const none;
    CHECK(ask(elsewhere) == probe_answer::pending);
  }
}

TEST_CASE_FIXTURE(kept_fixture, "what came on an idle connection, unasked, is no answer: it is not used again") {
  auto const kept = std::make_shared<detail::kept_connections>(context.get_executor(), 10);
  tcp::acceptor there{context, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  tcp::socket ours{context};
  ours.connect(there.local_endpoint());
  auto theirs = there.accept();
  auto const one = target();
  kept->keep(one, std::move(ours));
  auto taken = kept->take(one);
  REQUIRE(taken);
  CHECK_FALSE(kept->take(one));  // given out once
  boost::asio::write(theirs, boost::asio::buffer(answer_of("200 OK")));
  taken->wait(tcp::socket::wait_read);
  kept->keep(one, *std::move(taken));
  CHECK_FALSE(kept->take(one));
  error_code ec;
  char byte = 0;
  theirs.read_some(boost::asio::buffer(&byte, 1), ec);
  CHECK(ec);  // closed
}
