#include "http_fixture.hpp"

#include <agones_alloc/beast/caller_gate.hpp>
#include <agones_alloc/json/parse.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/json/object.hpp>
#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace agones_alloc;

namespace {

struct plain_request final : http_request {
  plain_request(std::string_view verb, std::string_view at, std::string_view from) {
    method = verb;
    path = at;
    peer = from;
  }
  auto header(std::string_view) const -> std::string override { return {}; }
  void visit_headers(std::function<void(std::string_view, std::string_view)> const&) const override {}
};

constexpr std::string_view allocation = "/gameserverallocation";

/// A gate before a handler that keeps what it is asked.
struct gated {
  explicit gated(std::size_t most, refusal_form form = refusal_form::rest) : loads{most}, gate{handler, loads, form} {
    handler.hold = true;
  }
  /// The status of an answer that comes at once; 0 when the handler has the request.
  auto ask(http_request const& request) -> int {
    last.reset();
    gate.handle(request, http_handler::reply{boost::asio::bind_cancellation_slot(
                             signals.emplace_back().slot(), boost::asio::bind_executor(boost::asio::system_executor{},
                                                                       [this](http_response r) { last = std::move(r); }))});
    return last ? last->status : 0;
  }
  auto ask(std::string_view peer) -> int { return ask(plain_request{"POST", allocation, peer}); }

  std::deque<boost::asio::cancellation_signal> signals;  ///< of each request
  beast_test::fake_handler handler;
  caller_loads loads;
  caller_gate gate;
  std::optional<http_response> last;
};

auto message_of(http_response const& answer) -> std::string {
  return parse_json(answer.body)->as_object().at("message").as_string().c_str();
}

}  // namespace

TEST_CASE("a caller with as many requests under way as it may have is refused, others are not") {
  gated world{2};
  CHECK(world.ask("10.0.0.1") == 0);
  CHECK(world.ask("10.0.0.1") == 0);
  CHECK(world.ask("10.0.0.1") == 409);
  CHECK(world.last->headers == std::vector<std::pair<std::string, std::string>>{{"Retry-After", "1"}});
  CHECK(world.last->route == "refused");
  CHECK(parse_json(world.last->body)->as_object().at("code").as_int64() == 10);
  CHECK(world.ask("10.0.0.2") == 0);
  CHECK(world.loads.requests() == 3);
  CHECK(world.loads.callers() == 2);
  CHECK(world.loads.refused() == 1);
  CHECK(world.handler.requests.size() == 3);

  world.handler.release();
  CHECK(world.last->body == "late");
  CHECK(world.loads.requests() == 2);
  CHECK(world.ask("10.0.0.1") == 0);
  CHECK(world.ask("10.0.0.1") == 409);
}

TEST_CASE("nothing is remembered of callers who have nothing under way") {
  gated world{1};
  for (auto const* peer : {"10.0.0.1", "10.0.0.2", "10.0.0.3"}) CHECK(world.ask(peer) == 0);
  while (!world.handler.held.empty()) world.handler.release();
  CHECK(world.loads.callers() == 0);
  CHECK(world.loads.requests() == 0);
}

TEST_CASE("a request that ends without an answer is not under way any more") {
  gated world{1};
  CHECK(world.ask("10.0.0.1") == 0);
  world.handler.held.clear();
  CHECK(world.loads.requests() == 0);
  CHECK(world.ask("10.0.0.1") == 0);
}

TEST_CASE("passes may outlive the loads they count for") {
  auto loads = std::make_unique<caller_loads>(1U);
  auto pass = std::make_optional(loads->enter("a", false));
  REQUIRE(*pass);
  loads.reset();
  pass.reset();
}

TEST_CASE("confirmations and releases have some room of their own") {
  gated world{1};
  CHECK(world.ask("a") == 0);
  CHECK(world.ask("a") == 409);
  CHECK(world.ask(plain_request{"GET", "/v1/claims/x", "a"}) == 429);
  CHECK(world.ask(plain_request{"POST", "/v1/claims/x:confirm", "a"}) == 0);
  CHECK(world.ask(plain_request{"POST", "/v1/claims/x:release", "a"}) == 429);
  CHECK(message_of(*world.last) == "this client has 1 requests under way, which is the most it may have");
  CHECK(parse_json(world.last->body)->as_object().at("code").as_int64() == 429);
}

TEST_CASE("before the Kubernetes paths a refusal is the Status that an API server would give") {
  gated world{1, refusal_form::kubernetes};
  CHECK(world.ask("a") == 0);
  CHECK(world.ask("a") == 429);
  auto const status = parse_json(world.last->body)->as_object();
  CHECK(status.at("kind").as_string() == "Status");
  CHECK(status.at("reason").as_string() == "TooManyRequests");
  CHECK(status.at("details").as_object().at("retryAfterSeconds").as_int64() == 1);
}

TEST_CASE("zero means no bound, and is counted all the same") {
  gated world{0};
  for (int i = 0; i < 100; ++i) CHECK(world.ask("a") == 0);
  CHECK(world.loads.requests() == 100);
}

TEST_CASE("who leaves is told to the handler through the gate") {
  gated world{1};
  CHECK(world.ask("a") == 0);
  world.signals.back().emit(boost::asio::cancellation_type::terminal);
  CHECK(world.handler.cancelled == 1);
}

TEST_CASE("a caller is its user, else its certificate's subject, else its address, and none is taken for another") {
  plain_request request{"POST", allocation, "10.0.0.1"};
  auto const by_address = caller_key(request);
  client_certificate shown;
  shown.common_name = "10.0.0.1";
  request.client = &shown;
  auto const by_certificate = caller_key(request);
  CHECK(by_certificate != by_address);
  shown.organizations = {"a", "b"};
  auto const of_two = caller_key(request);
  shown.organizations = {"a:b"};
  CHECK(of_two != caller_key(request));
  CHECK(by_certificate != caller_key(request));

  caller_identity who;
  request.caller = &who;
  shown.organizations = {"a", "b"};
  CHECK(caller_key(request) == of_two);  // anonymous
  who.user = "10.0.0.1";
  auto const by_user = caller_key(request);
  CHECK(by_user != by_certificate);
  request.client = nullptr;
  request.peer = "10.9.9.9";
  CHECK(caller_key(request) == by_user);
}

TEST_CASE("a connection tells the address of its other side") {
  struct tell_peer final : http_handler {
    void handle(http_request const& request, reply done) override { std::move(done)(text_response(200, request.peer)); }
  };
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  tell_peer handler;
  http_listener listener{io.get_executor(), handler, time};
  REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
  beast_test::raw_client client{io, listener.port()};
  CHECK(client.ask(beast_test::get("/")).body == "127.0.0.1\n");
  CHECK(client.ask(beast_test::get("/")).body == "127.0.0.1\n");
  listener.close();
  beast_test::settle(io);
}
