// Each source that asks, against a little peer on a real socket that hangs, flaps, answers too late, redirects and lies. Nothing here
// depends on how long anything takes: what is slower than it may be is asked again.
#include "../support/gate_fixture.hpp"

#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/socket_probe.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

/// What it does with one connection after the other; with the last one's manner it goes on.
struct manner {
  enum class kind { hangs, closes, answers, answers_late } how{kind::answers};
  std::string text{};
};
auto hangs() -> manner { return {manner::kind::hangs}; }
auto closes() -> manner { return {manner::kind::closes}; }
auto says(std::string text) -> manner { return {manner::kind::answers, std::move(text)}; }
/// When the next one has come: after the gate has given this one up.
auto says_late(std::string text) -> manner { return {manner::kind::answers_late, std::move(text)}; }

class odd_peer {
 public:
  using tcp = boost::asio::ip::tcp;
  odd_peer(boost::asio::io_context& context, std::vector<manner> manners)
      : acceptor_{context, {boost::asio::ip::make_address("127.0.0.1"), 0}}, manners_{std::move(manners)} {
    accept();
  }
  auto port() const -> std::uint16_t { return acceptor_.local_endpoint().port(); }
  void close() {
    acceptor_.close();
    for (auto const& one : links_) one->socket.close();
  }
  /// From now on connections are refused; what came so far is gone.
  void refuse() {
    port_ = port();
    close();
  }
  /// Where it was.
  void come_back() {
    acceptor_ = tcp::acceptor{acceptor_.get_executor(), {boost::asio::ip::make_address("127.0.0.1"), port_}};
    accept();
  }

  std::size_t connections{0};
  std::size_t left{0};  ///< connections that the other side closed
  std::vector<std::string> asked;

 private:
  struct link {
    explicit link(tcp::socket s) : socket{std::move(s)} {}
    tcp::socket socket;
    std::string read;
    std::string text;
  };

  void accept() {
    acceptor_.async_accept([this](error_code ec, tcp::socket socket) {
      if (ec) return;
      if (auto const late = std::exchange(late_, nullptr)) write(late);
      auto const& manner = manners_[std::min(connections++, manners_.size() - 1)];
      auto one = std::make_shared<link>(std::move(socket));
      one->text = manner.text;
      if (manner.how == manner::kind::closes) {
        one->socket.close();
        return accept();
      }
      links_.push_back(one);
      boost::asio::async_read_until(one->socket, boost::asio::dynamic_buffer(one->read, 8192), "\r\n\r\n",
                                    [this, one, how = manner.how](error_code failed, std::size_t) {
                                      if (failed) return;
                                      asked.push_back(one->read);
                                      if (how == manner::kind::answers) write(one);
                                      watch(one);
                                    });
      if (manner.how == manner::kind::answers_late) late_ = one;
      accept();
    });
  }
  static void write(std::shared_ptr<link> const& one) {
    boost::asio::async_write(one->socket, boost::asio::buffer(one->text), [one](error_code, std::size_t) {});
  }
  void watch(std::shared_ptr<link> const& one) {
    one->read.resize(1);
    one->socket.async_read_some(boost::asio::buffer(one->read), [this, one](error_code ec, std::size_t) {
      if (ec) ++left;
    });
  }

  tcp::acceptor acceptor_;
  std::uint16_t port_{0};
  std::vector<manner> manners_;
  std::vector<std::shared_ptr<link>> links_;
  std::shared_ptr<link> late_;
};

/// Real ones, whose answers it remembers.
class listening_probe final : public readiness_probe {
 public:
  explicit listening_probe(boost::asio::any_io_executor executor) : real_{std::move(executor)} {}
  auto can(probe_target::protocol how) const noexcept -> bool override { return real_.can(how); }
  std::vector<probe_answer> heard;

 private:
  void do_probe(probe_target target, handler done) override {
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    auto hear = [this, d = std::move(done)](error_code ec, probe_answer what) mutable {
      heard.push_back(what);
      std::move(d)(ec, what);
    };
    real_.async_probe(std::move(target), boost::asio::bind_cancellation_slot(slot, std::move(hear)));
  }
  socket_probe real_;
};

struct peers_fixture {
  boost::asio::io_context context;
  asio_timer clock{context.get_executor()};
  memory_store store{context.get_executor()};
  listening_probe probe{context.get_executor()};
  std::optional<odd_peer> peer;
  std::unique_ptr<gated_replica> one;

  peers_fixture() {
    one = std::make_unique<gated_replica>(context, store, clock, gate_options{}, allocator_options{}, &probe);
    context.poll();
  }
  ~peers_fixture() {
    if (peer) peer->close();
    one.reset();
    context.restart();
    context.run_for(60s);
  }

  template <class Condition>
  void run_until(Condition done) {
    auto const give_up = clock.now() + 120s;
    context.restart();
    while (!done()) {
      REQUIRE(clock.now() < give_up);
      context.run_one_for(1s);
    }
  }
  void add() {
    auto server = make_server("a");
    server.status.address = "127.0.0.1";
    server.status.ports[0].port = peer->port();
    REQUIRE(store.create(std::move(server)));
    context.restart();
    context.poll();
  }
  auto allocate(std::string gate) -> std::shared_ptr<call> {
    auto c = std::make_shared<call>();
    auto options = with_gate(std::move(gate));
    options.timeout = 10min;
    one->alloc->async_allocate(fleet_request(), options, [c](error_code ec, allocation_result r) { c->got.emplace(ec, std::move(r)); });
    return c;
  }
  auto state() -> std::string { return std::string{to_string(store.find(key("a"))->status.state)}; }
};

constexpr std::string_view events = "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n";

}  // namespace

TEST_CASE_FIXTURE(peers_fixture, "a game that hangs, flaps, answers late, redirects and lies is not ready for HTTP until it says so") {
  peer.emplace(context, std::vector{hangs(), closes(), says_late("HTTP/1.1 200 OK\r\n\r\n"),
                                    says("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/ready\r\n\r\n"),
                                    says("HTTP/1.1 503 Not yet\r\nContent-Length: 99999999\r\n\r\nshort"), says("HTTP/1.1 404 Not Found\r\n\r\n"),
                                    says("nonsense\r\n\r\n"), says("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nmuch more than that")});
  add();
  auto const mine = allocate("http; path=/ready; period=10ms; try-timeout=300ms; timeout=5m");
  run_until([&] { return mine->done(); });
  CHECK(mine->ended() == outcome::allocated);
  CHECK(state() == "Allocated");
  CHECK(peer->connections >= 8);
  CHECK(peer->asked.front().starts_with("GET /ready HTTP/1.1\r\n"));
}

TEST_CASE_FIXTURE(peers_fixture, "a game that refuses three times in a row over HTTP is ended, with anything else between it is not") {
  auto const refuses = says("HTTP/1.1 404 Not Found\r\n\r\n");
  peer.emplace(context, std::vector{refuses, refuses, closes(), refuses, refuses, says("HTTP/1.1 503 Not yet\r\n\r\n"), refuses});
  add();
  auto const mine = allocate("http; period=10ms; try-timeout=60s; timeout=5m; servers=1");
  run_until([&] { return mine->done(); });
  CHECK(mine->ended() == outcome::exhausted);
  CHECK(state() == "Shutdown");
  CHECK(peer->connections == 9);
}

TEST_CASE_FIXTURE(peers_fixture, "a game that accepts, and closes at once or is silent, is ready for TCP after so many times") {
  peer.emplace(context, std::vector{closes(), hangs(), closes()});
  add();
  auto const mine = allocate("tcp; successes=3; period=10ms; try-timeout=60s; timeout=5m");
  run_until([&] { return mine->done(); });
  CHECK(mine->ended() == outcome::allocated);
  CHECK(peer->connections >= 2);  // the third may be in the queue still
}

TEST_CASE_FIXTURE(peers_fixture, "a game whose port is refused in between begins anew for TCP, and is not ended for it") {
  peer.emplace(context, std::vector{closes()});
  add();
  auto const mine = allocate("tcp; successes=2; failures=1; period=10ms; try-timeout=60s; timeout=5m");
  run_until([&] { return !probe.heard.empty(); });
  peer->refuse();
  run_until([&] { return probe.heard.size() >= 4; });
  CHECK_FALSE(mine->done());
  CHECK(state() == "Reserved");
  auto const refused = probe.heard.size();
  CHECK(probe.heard[0] == probe_answer::ready);
  CHECK(std::all_of(probe.heard.begin() + 1, probe.heard.end(), [](probe_answer what) { return what == probe_answer::pending; }));
  peer->come_back();
  run_until([&] { return mine->done(); });
  CHECK(mine->ended() == outcome::allocated);
  REQUIRE(probe.heard.size() >= refused + 2);
  CHECK(*(probe.heard.end() - 2) == probe_answer::ready);
  CHECK(probe.heard.back() == probe_answer::ready);
}

TEST_CASE_FIXTURE(peers_fixture, "a game that is refused in between is not ready over HTTP either, until it is there again and says so") {
  peer.emplace(context, std::vector{says("HTTP/1.1 503 Not yet\r\n\r\n"), says("HTTP/1.1 200 OK\r\n\r\n")});
  add();
  auto const mine = allocate("http; period=10ms; failures=1; try-timeout=60s; timeout=5m");
  run_until([&] { return !probe.heard.empty(); });
  peer->refuse();
  run_until([&] { return probe.heard.size() >= 4; });
  CHECK_FALSE(mine->done());
  CHECK(state() == "Reserved");
  peer->come_back();
  run_until([&] { return mine->done(); });
  CHECK(mine->ended() == outcome::allocated);
  CHECK(probe.heard.back() == probe_answer::ready);
}

TEST_CASE_FIXTURE(peers_fixture, "a stream that hangs, flaps, comes late, redirects, is none or lies is opened again until the game says that it is ready") {
  auto const late = std::string{events} + "\r\nevent: ready\n\n";
  peer.emplace(context, std::vector{hangs(), closes(), says_late(late),
                                    says("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/events\r\n\r\n"),
                                    says("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nevent: ready\n\n"),
                                    says(std::string{events} + "\r\nevent: loading\ndata: " + std::string(5000, 'x')),
                                    says(std::string{events} + "Content-Length: 3\r\n\r\n: hello\n\nevent: loading\ndata: 1\n\nevent: ready\ndata: true\n\n")});
  add();
  auto const mine = allocate("sse; path=/events; period=10ms; try-timeout=300ms; timeout=5m");
  run_until([&] { return mine->done(); });
  CHECK(mine->ended() == outcome::allocated);
  CHECK(peer->connections >= 7);
  CHECK(peer->asked.front().starts_with("GET /events HTTP/1.0\r\nHost: 127.0.0.1:"));
  CHECK(peer->asked.front().find("Accept: text/event-stream\r\n") != std::string::npos);
}

TEST_CASE_FIXTURE(peers_fixture, "a silent stream stays open past the time of a try, and is closed when the wait ends by something else") {
  peer.emplace(context, std::vector{says(std::string{events} + "\r\n: hello\n\n")});
  add();
  auto const mine = allocate("sse; period=10ms; try-timeout=20ms; timeout=5m");
  run_until([&] { return !peer->asked.empty(); });
  context.run_for(100ms);
  // On a very slow machine the head came too late, and it was opened again: what counts is that one stays.
  auto const opened = peer->connections;
  CHECK_FALSE(mine->done());
  store.modify(key("a"), [](game_server& server) { server.status.state = game_server_state::allocated; });
  run_until([&] { return mine->done() && peer->left >= opened; });
  CHECK(mine->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(peers_fixture, "a game says in its stream that it failed, and is ended at once") {
  peer.emplace(context, std::vector{says(std::string{events} + "\r\nevent: failed\ndata: no map\ndata: of that name\n\nevent: failed\n\n")});
  add();
  auto const mine = allocate("sse; timeout=5m; servers=1");
  run_until([&] { return mine->done(); });
  CHECK(mine->ended() == outcome::exhausted);
  CHECK(state() == "Shutdown");
  CHECK(peer->connections == 1);
}
