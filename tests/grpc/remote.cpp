// The remote allocator over gRPC against a listener whose handler the test gives, and against ports that are no gRPC.
#include "remote_fixture.hpp"
#include "talker.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <stdexcept>

using namespace grpc_test;
using namespace std::chrono_literals;

namespace {

using boost::asio::ip::tcp;

auto counted(served& s, int& calls) -> void {
  s.handler.act = [&calls](http_request const&, http_handler::reply done) {
    ++calls;
    std::move(done)(named("far"));
  };
}

}  // namespace

TEST_CASE("what a remote is sent: the policy's namespace, no several clusters, its id, its hops, its gate, the time left") {
  served far;
  std::string path, id, hops, gate, timeout, body;
  far.handler.act = [&](http_request const& request, http_handler::reply done) {
    path = request.path;
    id = request.header("idempotency-key");
    hops = request.header("agones-alloc-hops");
    gate = request.header("agones-alloc-gate");
    timeout = request.header("grpc-timeout");
    body = request.body;
    std::move(done)(named("far"));
  };
  calling f{plain(far)};
  auto call = f.call();
  call.hops = 1;
  call.gate = "http; port=health";
  auto const got = f.told(call);
  CHECK(got.result == outcome::allocated);
  CHECK(got.server->meta.name == "far");
  CHECK(got.server->meta.namespace_ == "games");
  CHECK(path == "/allocation.AllocationService/Allocate");
  CHECK(id == "id-1");
  CHECK(hops == "2");
  CHECK(gate == "http; port=health");
  CHECK(timeout.size() > 1);
  allocation::AllocationRequest message;
  REQUIRE(message.ParseFromString(body));
  CHECK(message.namespace_() == "games");
  CHECK_FALSE(message.multiclustersetting().enabled());
  CHECK(message.gameserverselectors(0).matchlabels().at("agones.dev/fleet") == "fleet");
  call.deadline = std::chrono::steady_clock::time_point::max();
  call.request_id.clear();
  call.gate.clear();
  CHECK(f.told(call).result == outcome::allocated);
  CHECK(gate.empty());
  CHECK(timeout.empty());
  CHECK(id.empty());
}

TEST_CASE("calls to an endpoint share its connection, and requests at once too (Q46)") {
  served far;
  calling f{plain(far)};
  std::vector<std::shared_ptr<pending>> all;
  for (int i = 0; i != 5; ++i) CHECK(f.told().result == outcome::allocated);
  for (int i = 0; i != 50; ++i) all.push_back(f.ask(f.call()));
  for (auto const& one : all) CHECK(f.wait(one).result == outcome::allocated);
  auto const state = f.state();
  CHECK(state.endpoint == f.endpoint);
  CHECK(state.protocol == "grpc");
  CHECK(state.connections == 1);
  CHECK(state.opened == 1);
  CHECK(state.sent == 55);
}

TEST_CASE("what cannot be said is refused with its field, and nothing is sent (Q10)") {
  served far;
  int calls = 0;
  counted(far, calls);
  calling f{plain(far)};
  auto wanted = test_support::fleet_allocation();
  wanted.spec.selectors[0].labels.match_expressions.push_back({"region", "NotIn", {"us"}});
  auto call = f.call();
  call.allocation = std::make_shared<game_server_allocation const>(test_support::compile_request(wanted)->allocation());
  auto got = f.told(call);
  CHECK(got.result == outcome::invalid);
  REQUIRE(got.errors.size() == 1);
  CHECK(got.errors[0].field == "spec.selectors[0].matchExpressions[0]");
  far.on_loop([&] { CHECK(calls == 0); });
  // By its policy this cluster knows them.
  call.match_expressions = true;
  CHECK(f.told(call).result == outcome::allocated);
  far.on_loop([&] { calls = 0; });
  call = f.call();
  call.request_id = "a\nb";
  got = f.told(call);
  CHECK(got.result == outcome::unavailable);
  CHECK(got.message == "the request cannot be written");
  far.on_loop([&] { CHECK(calls == 0); });
}

TEST_CASE("an endpoint that refuses or is none was not asked anything, and one that is back is called at once") {
  boost::asio::io_context io;
  tcp::acceptor taken{io, tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}};
  auto const port = taken.local_endpoint().port();
  taken.close();
  calling f{"grpc+http://127.0.0.1:" + std::to_string(port)};
  for (int i = 0; i != 3; ++i) {
    auto const got = f.told();
    CHECK(got.result == outcome::unavailable);
    CHECK(holds(got.message.view(), "failed to connect"));
    CHECK_FALSE(got.whole_cluster);
  }
  CHECK_FALSE(f.probe().empty());
  served far{nullptr};
  far.prepare({});
  REQUIRE_FALSE(far.listener->listen("127.0.0.1", port));
  far.run();
  CHECK(f.told().result == outcome::allocated);
  CHECK(f.probe().empty());
  CHECK(f.state().opened == 1);
  auto call = f.call();
  call.endpoint = "grpc://east:port";
  auto const got = f.told(call);
  CHECK(got.result == outcome::unavailable);
  CHECK(holds(got.message.view(), "endpoint \"grpc://east:port\""));
}

TEST_CASE("a name that does not resolve") {
  calling f{"grpc+http://no-such-host.invalid:1"};
  CHECK(f.told().result == outcome::unavailable);
}

TEST_CASE("ports that are no gRPC: nothing was executed") {
  grpc_remote_options options;
  options.connect_time = 400ms;
  std::string words;
  SUBCASE("silence") {}
  SUBCASE("another protocol") { words = "220 mail ready\r\n"; }
  SUBCASE("HTTP/1.1") { words = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"; }
  SUBCASE("garbage without end") { words.assign(1'000'000, '\x07'); }
  talker far{words};
  calling f{"grpc+http://" + far.place(), options};
  auto const got = f.told();
  CHECK(got.result == outcome::unavailable);
  CHECK_FALSE(got.message.empty());
  CHECK_FALSE(f.probe(400ms).empty());
}

TEST_CASE("an endpoint that ends each connection at once has few connections a call, and was not asked anything") {
  talker far{goaway_at_once()};
  calling f{"grpc+http://" + far.place()};
  for (int calls = 1; calls != 4; ++calls) {
    auto const got = f.told();
    CHECK(got.result == outcome::unavailable);
    CHECK(holds(got.message.view(), "GOAWAY"));
    CHECK(int{far.connections} >= calls);
    CHECK(int{far.connections} <= calls * few_connections);
  }
  CHECK(holds(f.probe(), "GOAWAY"));
  CHECK(int{far.connections} <= 4 * few_connections);
}

TEST_CASE("answers that are none or too large leave the fate unknown") {
  served far;
  calling f{plain(far), {.answer_bytes = 1000}};
  auto call = f.call();
  SUBCASE("garbage") {
    far.handler.act = [](http_request const&, http_handler::reply done) {
      http_response out;
      out.body = "<html>hello</html>";
      std::move(done)(std::move(out));
    };
    CHECK(f.told(call).result == outcome::unknown);
  }
  SUBCASE("too large") {
    far.handler.act = [](http_request const&, http_handler::reply done) { std::move(done)(named(std::string(100'000, 'x'))); };
    CHECK(f.told(call).result == outcome::unknown);
  }
}

TEST_CASE("a call whose answer does not come in time is of unknown fate, and its remote hears of it") {
  served far;
  kept_replies kept{far};
  calling f{plain(far)};
  auto call = f.call();
  CHECK(f.probe().empty());
  call.deadline = f.time.now() + 400ms;
  auto const got = f.told(call);
  CHECK(got.result == outcome::unknown);
  kept.left.get_future().wait();
  far.on_loop([&] { std::move(*kept.replies.front())(named("too late")); });
}

TEST_CASE("a remote that stops during a call leaves its fate unknown, and is not reached afterwards") {
  served far;
  kept_replies kept{far};
  calling f{plain(far)};
  auto const one = f.ask(f.call());
  f.until(kept.come.get_future());
  far.on_loop([&] { far.listener.reset(); });
  CHECK(f.wait(one).result == outcome::unknown);
  CHECK(f.told().result == outcome::unavailable);
  far.on_loop([&] { kept.replies.clear(); });
}

TEST_CASE("a remote that drains, or has no room, says that it did nothing") {
  SUBCASE("no room") {
    grpc_listener_options options;
    options.calls = 1;
    served far{options};
    kept_replies kept{far};
    calling f{plain(far)};
    auto const one = f.ask(f.call());
    f.until(kept.come.get_future());
    auto const got = f.told();
    CHECK(got.result == outcome::unavailable);
    CHECK(got.retry_after == 1s);
    far.on_loop([&] { std::move(*kept.replies.front())(named("far")); });
    CHECK(f.wait(one).result == outcome::allocated);
  }
  SUBCASE("not serving") {
    served far;
    int calls = 0;
    counted(far, calls);
    far.on_loop([&] { far.listener->set_serving(false); });
    calling f{plain(far)};
    auto const got = f.told();
    CHECK(got.result == outcome::unavailable);
    CHECK(got.message == "it says that it does not serve");
    CHECK(f.probe() == "it says that it does not serve");
    far.on_loop([&] { CHECK(calls == 0); });
    far.on_loop([&] { far.listener->set_serving(true); });
    CHECK(f.told().result == outcome::allocated);
  }
}

TEST_CASE("a status of the remote comes through, also one that gRPC does not know") {
  served far;
  int code = 0;
  far.handler.act = [&](http_request const&, http_handler::reply done) {
    std::move(done)(grpc_failure(static_cast<grpc_code>(code), "words"));
  };
  calling f{plain(far)};
  for (auto const& [number, wanted] : {std::pair{3, outcome::invalid}, {7, outcome::refused}, {10, outcome::contention},
                                       {9, outcome::unavailable}, {12, outcome::unavailable}, {13, outcome::unknown},
                                       {422, outcome::invalid}}) {
    int const one = number;
    far.on_loop([&, one] { code = one; });
    CAPTURE(one);
    CHECK(f.told().result == wanted);
  }
}

TEST_CASE("a caller who leaves: before it is sent, and after") {
  SUBCASE("before") {
    talker silent{""};
    calling f{"grpc+http://" + silent.place()};
    auto const one = f.ask(f.call());
    f.io.poll();
    one->stop.emit(boost::asio::cancellation_type::terminal);
    CHECK(f.wait(one).result == outcome::cancelled);
  }
  SUBCASE("at once") {
    served far;
    calling f{plain(far)};
    auto const one = f.ask(f.call());
    one->stop.emit(boost::asio::cancellation_type::terminal);
    CHECK(f.wait(one).result == outcome::cancelled);
  }
  SUBCASE("after") {
    served far;
    kept_replies kept{far};
    calling f{plain(far)};
    auto const one = f.ask(f.call());
    f.until(kept.come.get_future());
    one->stop.emit(boost::asio::cancellation_type::terminal);
    CHECK(f.wait(one).result == outcome::unknown);
    kept.left.get_future().wait();
    far.on_loop([&] { std::move(*kept.replies.front())(named("too late")); });
  }
}

TEST_CASE("a call whose time is up before it begins is not sent") {
  served far;
  int calls = 0;
  counted(far, calls);
  calling f{plain(far)};
  auto call = f.call();
  call.deadline = f.time.now();
  CHECK(f.told(call).result == outcome::deadline);
  far.on_loop([&] { CHECK(calls == 0); });
}

TEST_CASE("destroying or closing it ends what is under way, and nothing is sent any more") {
  served far;
  kept_replies kept{far};
  calling f{plain(far)};
  auto const one = f.ask(f.call());
  f.until(kept.come.get_future());
  SUBCASE("destroyed") { f.remote.reset(); }
  SUBCASE("closed") {
    f.remote->close();
    CHECK(f.told().result == outcome::cancelled);
    CHECK(f.probe() != "");
  }
  CHECK(f.wait(one).result == outcome::unknown);
  kept.left.get_future().wait();
  far.on_loop([&] { kept.replies.clear(); });
}

TEST_CASE("an unused connection is closed, and the next call has another") {
  served far;
  calling f{plain(far), {.idle_time = 1s}};
  CHECK(f.told().result == outcome::allocated);
  while (f.state().connections != 0) f.io.run_one_for(10ms);
  CHECK(f.told().result == outcome::allocated);
  CHECK(f.state().opened == 2);
}

TEST_CASE("options out of range are refused by name") {
  boost::asio::io_context io;
  asio_timer time{io.get_executor()};
  CHECK_THROWS_WITH_AS((grpc_remote_allocator{io.get_executor(), nullptr, time, {.connect_time = 0s}}),
                       "grpc_remote_options::connect_time is out of range", std::invalid_argument);
  CHECK_THROWS_AS((grpc_remote_allocator{io.get_executor(), nullptr, time, {.answer_bytes = 0}}), std::invalid_argument);
  CHECK_THROWS_AS((grpc_remote_allocator{io.get_executor(), nullptr, time, {.endpoints = 0}}), std::invalid_argument);
}
