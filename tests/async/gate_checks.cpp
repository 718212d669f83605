// Checks of pending servers over a port of their own: when they come, how many at once, and what real peers can do to them.
#include "../support/scripted_probe.hpp"

#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/socket_probe.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <doctest/doctest.h>

#include <algorithm>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

/// A peer that says something to whoever connects, and what it was asked.
class peer {
 public:
  using tcp = boost::asio::ip::tcp;
  peer(boost::asio::io_context& context, std::string answer) : acceptor_{context, {boost::asio::ip::make_address("127.0.0.1"), 0}}, answer_{std::move(answer)} {
    accept();
  }
  auto port() const -> std::uint16_t { return acceptor_.local_endpoint().port(); }
  std::string asked;

 private:
  void accept() {
    acceptor_.async_accept([this](error_code ec, tcp::socket socket) {
      if (ec) return;
      socket_ = std::make_unique<tcp::socket>(std::move(socket));
      boost::asio::async_read_until(*socket_, boost::asio::dynamic_buffer(asked, 4096), "\r\n\r\n", [this](error_code failed, std::size_t) {
        if (failed || answer_.empty()) return;
        boost::asio::async_write(*socket_, boost::asio::buffer(answer_), [](error_code, std::size_t) {});
      });
    });
  }
  tcp::acceptor acceptor_;
  std::unique_ptr<tcp::socket> socket_;
  std::string answer_;
};

auto probe_peer(std::string answer, std::chrono::milliseconds time = 5s, std::string* asked = nullptr,
                probe_target::protocol how = probe_target::protocol::http) -> probe_answer {
  boost::asio::io_context context;
  peer there{context, std::move(answer)};
  socket_probe probe{context.get_executor()};
  std::optional<probe_answer> got;
  probe.async_probe({how, "127.0.0.1", there.port(), "/ready", asio_timer{context.get_executor()}.now() + time},
                    [&](error_code ec, probe_answer said) {
                      CHECK_FALSE(ec);
                      got = said;
                      context.stop();
                    });
  CHECK_FALSE(got);
  context.run();
  if (asked != nullptr) *asked = there.asked;
  return got.value();
}

}  // namespace

TEST_CASE_FIXTURE(checks_fixture, "the server's own address and its declared port are asked until it is ready") {
  add("a");
  auto const mine = allocate(with_gate("http; path=/up; period=1s"));
  REQUIRE(probe.open.size() == 1);
  CHECK(probe.open[0].target.address == "10.0.0.1");
  CHECK(probe.open[0].target.port == 7000);
  CHECK(probe.open[0].target.path == "/up");
  CHECK(probe.open[0].target.how == probe_target::protocol::http);
  CHECK(probe.open[0].target.deadline == clock.now() + 1s);
  answer(0, probe_answer::pending);
  CHECK(probe.open.empty());
  pass(1s);
  REQUIRE(probe.open.size() == 1);
  answer(0, probe_answer::ready);
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::allocated);
  pass(10s);
  CHECK(probe.open.empty());
}

TEST_CASE_FIXTURE(checks_fixture, "over HTTP a connection may be kept for the next check of the same server and wait, where that is near") {
  add("a");
  std::string gate;
  SUBCASE("near") { gate = "http; period=10s; try-timeout=2s; timeout=10m"; }
  SUBCASE("not after the wait") { gate = "http; period=10s; try-timeout=2s; timeout=15s"; }
  SUBCASE("far") { gate = "http; period=31s; timeout=10m"; }
  SUBCASE("not HTTP") { gate = "tcp; period=10s; timeout=10m"; }
  auto options = with_gate(gate, true);
  options.request_id = shared_string{"match-7"};
  allocate(options);
  REQUIRE(probe.open.size() == 1);
  auto const& target = probe.open[0].target;
  auto const left = target.until - clock.now();
  if (gate.find("31s") != std::string::npos || gate.starts_with("tcp")) {
    CHECK(target.id.empty());
    CHECK(target.until == std::chrono::steady_clock::time_point{});
    return;
  }
  CHECK(target.id == stored("a").meta.uid.str() + "/match-7");
  CHECK(left > (gate.ends_with("15s") ? 14s : 21s));
  CHECK(left <= (gate.ends_with("15s") ? 15s : 22s));
}

TEST_CASE_FIXTURE(checks_fixture, "refusals in a row end the wait, one alone does not") {
  add("a");
  auto const mine = allocate(with_gate("http; failures=2"));
  for (auto const what : {probe_answer::failed, probe_answer::pending, probe_answer::failed}) {
    answer(0, what);
    pass(1s);
  }
  CHECK(state("a") == "Reserved");
  answer(0, probe_answer::failed);
  CHECK(state("a") == "Shutdown");
  CHECK(mine->ended() == outcome::exhausted);
}

TEST_CASE_FIXTURE(checks_fixture, "a check that never ends, or whose port does not exist, times out as any other") {
  add("a");
  add("b");
  auto const hangs = allocate(with_gate("tcp; timeout=5s; servers=1"));
  auto const nowhere = allocate(with_gate("tcp; port=admin; timeout=5s; servers=1"));
  CHECK(probe.open.size() == 1);
  pass(5s);
  CHECK(hangs->ended() == outcome::exhausted);
  CHECK(nowhere->ended() == outcome::exhausted);
  answer(0, probe_answer::ready);  // late
  CHECK(one->gate->pending() == 0);
}

TEST_CASE_FIXTURE(checks_fixture, "a host has so many checks at once and no more, and each of its servers gets its turn") {
  gate_options options;
  options.otherwise = gate_of("tcp");
  options.max_probes_per_host = 3;
  one.reset();
  run();
  one = std::make_unique<gated_replica>(context, store, clock, std::move(options), allocator_options{}, &probe);
  run();
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i != 10; ++i) {
    REQUIRE(store.create(make_server("gs-" + std::to_string(i))));
    run();
    calls.push_back(allocate());
  }
  for (int i = 0; i != 10; ++i) {
    REQUIRE_FALSE(probe.open.empty());
    answer(0, probe_answer::ready);
  }
  CHECK(probe.most == 3);
  CHECK(std::all_of(calls.begin(), calls.end(), [](auto const& c) { return c->done() && c->ended() == outcome::allocated; }));
}

TEST_CASE_FIXTURE(checks_fixture, "a game calls back with its token, once") {
  add("a");
  auto const mine = allocate(with_gate("webhook"));
  std::string const token{stored("a").meta.annotations.value_or_empty(keys::gate_token_annotation)};
  CHECK(token.size() == 32);
  CHECK_FALSE(one->gate->call("guessed", true));
  CHECK_FALSE(one->gate->call("", true));
  CHECK(one->gate->call(token, true));
  CHECK_FALSE(one->gate->call(token, false));
  run();
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::allocated);
  CHECK_FALSE(stored("a").meta.annotations.find(keys::gate_token_annotation));
}

TEST_CASE_FIXTURE(checks_fixture, "a game that calls to say that it failed ends the wait") {
  add("a");
  auto const mine = allocate(with_gate("webhook; servers=1"));
  CHECK(one->gate->call(stored("a").meta.annotations.value_or_empty(keys::gate_token_annotation), false));
  run();
  CHECK(mine->ended() == outcome::exhausted);
  CHECK(state("a") == "Shutdown");
}

TEST_CASE_FIXTURE(checks_fixture, "a game that calls after the time-out is nobody's, and its token is gone") {
  add("a");
  auto const mine = allocate(with_gate("webhook; timeout=5s; servers=1"));
  std::string const token{stored("a").meta.annotations.value_or_empty(keys::gate_token_annotation)};
  SUBCASE("a tick before it is in time") {
    pass(5s - 1ns);
    CHECK(one->gate->call(token, true));
    run();
    REQUIRE(mine->done());
    CHECK(mine->ended() == outcome::allocated);
  }
  SUBCASE("at that time it is late") {
    pass(5s);
    CHECK_FALSE(one->gate->call(token, true));
    run();
    REQUIRE(mine->done());
    CHECK(mine->ended() == outcome::exhausted);
    CHECK(state("a") == "Shutdown");
  }
  SUBCASE("just when its time is up, it is one or the other") {
    clock.advance(5s);
    auto const heard = one->gate->call(token, true);
    run();
    REQUIRE(mine->done());
    CHECK(mine->ended() == (state("a") == "Allocated" ? outcome::allocated : outcome::exhausted));
    if (!heard) CHECK(state("a") == "Shutdown");
  }
  CHECK_FALSE(stored("a").meta.annotations.find(keys::gate_token_annotation));
  CHECK_FALSE(one->gate->call(token, true));
}

TEST_CASE_FIXTURE(checks_fixture, "a game calls a server that was restarted meanwhile") {
  add("a");
  auto const id = allocate(with_gate("webhook; timeout=60s", true))->result().claim;
  std::string const token{stored("a").meta.annotations.value_or_empty(keys::gate_token_annotation)};
  pass(10s);
  start("off", "replica-1", &probe);
  CHECK(one->gate->pending() == 1);
  CHECK_FALSE(one->gate->call("guessed", true));
  CHECK(state("a") == "Reserved");
  CHECK(one->gate->call(token, true));
  CHECK_FALSE(one->gate->call(token, true));
  run();
  CHECK(state("a") == "Allocated");
  CHECK_FALSE(stored("a").meta.annotations.find(keys::gate_token_annotation));
  auto const found = begun([&](auto done) { one->alloc->async_find_claim("default", id, {}, std::move(done)); });
  REQUIRE(found->done());
  CHECK(found->ended() == outcome::allocated);
  // Once more, and it is too late for that token.
  start("off", "replica-1", &probe);
  CHECK_FALSE(one->gate->call(token, true));
}

TEST_CASE_FIXTURE(checks_fixture, "what is late by one tick is late, from every source") {
  add("a");
  std::string gate;
  SUBCASE("watch") { gate = "watch"; }
  SUBCASE("HTTP") { gate = "http"; }
  SUBCASE("TCP") { gate = "tcp"; }
  SUBCASE("gRPC") { gate = "grpc"; }
  SUBCASE("a stream") { gate = "sse"; }
  CAPTURE(gate);
  auto const ready = [&] {
    if (gate == "watch") return says("a", "true");
    REQUIRE(probe.open.size() == 1);
    answer(0, probe_answer::ready);
  };
  auto const in_time = allocate(with_gate(gate + "; timeout=5s; try-timeout=5s; servers=1; on-timeout=ReturnToReady"));
  pass(5s - 1ns);
  ready();
  REQUIRE(in_time->done());
  CHECK(in_time->ended() == outcome::allocated);
  becomes("a", game_server_state::shutdown);
  REQUIRE(store.remove(key("a")));
  run();
  add("b");
  auto const late = allocate(with_gate(gate + "; timeout=5s; try-timeout=5s; servers=1; on-timeout=ReturnToReady"));
  pass(5s);
  REQUIRE(late->done());
  CHECK(late->ended() == outcome::exhausted);
  CHECK(state("b") == "Ready");
  if (gate == "watch") {
    says("b", "true");
  } else {
    probe.answer_all(probe_answer::ready);
    run();
  }
  CHECK(state("b") == "Ready");
  CHECK(one->gate->pending() == 0);
}

TEST_CASE_FIXTURE(checks_fixture, "a game is asked for its service over gRPC, and ended when it refuses so many times in a row") {
  add("a");
  auto const mine = allocate(with_gate("grpc; path=/arena.Match; failures=2; period=1s; servers=1"));
  REQUIRE(probe.open.size() == 1);
  CHECK(probe.open[0].target.how == probe_target::protocol::grpc);
  CHECK(probe.open[0].target.address == "10.0.0.1");
  CHECK(probe.open[0].target.port == 7000);
  CHECK(probe.open[0].target.path == "/arena.Match");
  CHECK(probe.open[0].target.deadline == clock.now() + 1s);
  SUBCASE("until it serves") {
    for (auto const what : {probe_answer::pending, probe_answer::failed, probe_answer::pending}) {
      answer(0, what);
      pass(1s);
    }
    CHECK_FALSE(mine->done());
    answer(0, probe_answer::ready);
    REQUIRE(mine->done());
    CHECK(mine->ended() == outcome::allocated);
  }
  SUBCASE("until it has refused") {
    answer(0, probe_answer::failed);
    pass(1s);
    CHECK(state("a") == "Reserved");
    answer(0, probe_answer::failed);
    CHECK(state("a") == "Shutdown");
    CHECK(mine->ended() == outcome::exhausted);
  }
}

TEST_CASE_FIXTURE(checks_fixture, "whoever carries a server on after a restart checks it, too") {
  add("a");
  allocate(with_gate("tcp", true));
  CHECK(probe.open.size() == 1);
  start("off", "replica-7", &probe);
  answer(0, probe_answer::ready);  // to the process that is gone
  CHECK(state("a") == "Reserved");
  pass(7s);
  REQUIRE(probe.open.size() == 1);
  answer(0, probe_answer::ready);
  pass(2s);
  CHECK(state("a") == "Allocated");
}

TEST_CASE("the status line of an answer is all that is read of it") {
  std::string asked;
  CHECK(probe_peer("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nshort", 5s, &asked) == probe_answer::ready);
  CHECK(asked.starts_with("GET /ready HTTP/1.1\r\nHost: 127.0.0.1:"));
  CHECK(probe_peer("HTTP/1.0 200\r\n\r\n") == probe_answer::ready);
  CHECK(probe_peer("HTTP/1.1 503 Not yet\r\n\r\n") == probe_answer::pending);
  CHECK(probe_peer("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n") == probe_answer::pending);
  CHECK(probe_peer("HTTP/1.1 404 Not Found\r\n\r\n") == probe_answer::failed);
  CHECK(probe_peer("SSH-2.0-OpenSSH_9.2\r\n") == probe_answer::pending);
  CHECK(probe_peer("HTTP/1.1 2000 \r\n") == probe_answer::pending);
  CHECK(probe_peer(std::string(5000, 'x')) == probe_answer::pending);
}

TEST_CASE("a peer that accepts and never answers is not ready for HTTP, and is for TCP") {
  CHECK(probe_peer("", 50ms) == probe_answer::pending);
  CHECK(probe_peer("", 5s, nullptr, probe_target::protocol::tcp) == probe_answer::ready);
}

TEST_CASE("a port that nobody listens on is not ready") {
  boost::asio::io_context context;
  std::uint16_t port = 0;
  {
    boost::asio::ip::tcp::acceptor gone{context, {boost::asio::ip::make_address("127.0.0.1"), 0}};
    port = gone.local_endpoint().port();
  }
  socket_probe probe{context.get_executor()};
  std::optional<probe_answer> got;
  for (auto const how : {probe_target::protocol::http, probe_target::protocol::tcp}) {
    probe.async_probe({how, "127.0.0.1", port, "/", asio_timer{context.get_executor()}.now() + 5s}, [&](error_code, probe_answer said) { got = said; });
    context.restart();
    context.run();
    CHECK(got == probe_answer::pending);
  }
}
