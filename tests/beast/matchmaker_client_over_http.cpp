// A matchmaker's client, the real front ends, the real allocator and a store in memory, on one loop.
#include "../support/servers.hpp"
#include "client_fixture.hpp"
#include "raw_client.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/beast/allocator_backend.hpp>
#include <agones_alloc/beast/client/matchmaker_client.hpp>
#include <agones_alloc/beast/claims_front_end.hpp>
#include <agones_alloc/beast/http_listener.hpp>
#include <agones_alloc/beast/http_router.hpp>
#include <agones_alloc/beast/rest_front_end.hpp>
#include <agones_alloc/select/claim.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_executor.hpp>

#include <limits>

using namespace beast_test;
using test_support::fleet_allocation;
using test_support::make_server;

namespace {

/// Of the next answers so many are lost: all connections end when the answer is there, as when the server is killed.
struct losing final : http_handler {
  losing(http_handler& to, std::function<void()> kill) : to_{&to}, kill_{std::move(kill)} {}
  void handle(http_request const& request, reply done) override {
    auto const executor = boost::asio::get_associated_executor(done);
    ++requests;
    to_->handle(request, reply{boost::asio::bind_executor(executor, [this, done = std::move(done)](http_response r) mutable {
                  if (to_lose > 0) {
                    --to_lose;
                    kill_();
                  }
                  std::move(done)(std::move(r));
                })});
  }
  int to_lose{0};
  int requests{0};

 private:
  http_handler* to_;
  std::function<void()> kill_;
};

auto get_text(std::string const& target) -> std::string { return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n"; }

struct world {
  explicit world(int servers) {
    for (int i = 0; i != servers; ++i) {
      auto server = make_server("gs" + std::to_string(i));
      server.meta.uid = {};
      server.meta.resource_version = {};
      cache.store(store.create(std::move(server)).value());
    }
    routes.add(std::string{claims_front_end::prefix}, claims, true);
    start(0);
    client_endpoint endpoint;
    endpoint.host = "127.0.0.1";
    endpoint.port = port;
    endpoint.tls = false;
    matchmaker_client_options options;
    options.endpoints.push_back(endpoint);
    options.rules.retry = {std::numeric_limits<std::uint32_t>::max(), 10ms, 1.0, 0.0, 10ms};
    client.emplace(io.get_executor(), std::make_shared<static_credentials>(io.get_executor()), time, random, options);
  }
  ~world() {
    client.reset();
    listener->close();
    settle(io);
  }
  /// A new one in place of the last, on its port.
  void start(std::uint16_t at) {
    listener = std::make_unique<http_listener>(io.get_executor(), front, time);
    REQUIRE_FALSE(listener->listen("127.0.0.1", at));
    port = listener->port();
  }
  static auto wish(std::string id) -> ticket {
    ticket out;
    out.allocation = fleet_allocation();
    out.id = std::move(id);
    return out;
  }
  auto keep(std::optional<ticket_result>& out) {
    return [&out](error_code ec, ticket_result r) {
      CHECK(static_cast<bool>(ec) == (r.result != outcome::allocated));
      out = std::move(r);
    };
  }
  /// The clock passes pauses of 10 ms, and nothing else.
  void wait(std::optional<ticket_result>& one) {
    run_until(io, [&] {
      if (auto const next = time.next(); next && *next - time.now() <= 10ms) time.advance_to_next();
      return one.has_value();
    });
  }
  auto allocate(ticket what) -> ticket_result {
    std::optional<ticket_result> out;
    client->async_allocate(std::move(what), keep(out));
    wait(out);
    return *out;
  }
  auto release(std::string id) -> ticket_result {
    std::optional<ticket_result> out;
    client->async_release("default", std::move(id), release_to::ready, 30s, keep(out));
    wait(out);
    return *out;
  }
  auto state(shared_string const& name) -> game_server_state { return store.find({"default", name})->status.state; }
  auto allocated() -> std::size_t {
    std::size_t out = 0;
    for (auto const& one : store.list().servers) out += one->status.state == game_server_state::allocated ? 1 : 0;
    return out;
  }

  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  memory_store store{io.get_executor(), memory_store_options{.clock = &time}};
  ready_cache cache;
  seeded_random random{1};
  allocator alloc{io.get_executor(), cache, store, time, random};
  allocator_backend backend{alloc};
  rest_front_end rest{backend, time, {}};
  bool listed{true};
  claims_front_end claims{alloc, time, options()};
  auto options() -> front_end_options {
    front_end_options out;
    out.listed = [this] { return listed; };
    return out;
  }
  http_router routes{rest};
  std::unique_ptr<http_listener> listener;
  losing front{routes, [this] {
                 listener->close();
                 start(port);
               }};
  std::uint16_t port{0};
  std::optional<matchmaker_client> client;
};

}  // namespace

TEST_CASE("one call leaves a confirmed claim, and a release takes it back") {
  world w{2};
  auto const got = w.allocate(w.wish("match-1"));
  CHECK(got.result == outcome::allocated);
  CHECK(got.confirmed);
  CHECK(got.server->status.address == "10.0.0.1");
  auto const stored = w.store.find({"default", got.server->meta.name});
  auto const claim = find_claim(*stored, "match-1");
  REQUIRE(claim);
  CHECK_FALSE(claim->expires);
  CHECK(w.release("match-1").result == outcome::allocated);
  CHECK(w.state(got.server->meta.name) == game_server_state::ready);
  CHECK(w.allocated() == 0);
}

TEST_CASE("whichever answers are lost with the connections of a killed server, it is one server in the end") {
  for (int lost = 1; lost <= 4; ++lost) {
    CAPTURE(lost);
    world w{5};
    w.front.to_lose = lost;
    auto const got = w.allocate(w.wish("match-1"));
    CHECK(got.result == outcome::allocated);
    CHECK(got.confirmed);
    CHECK(w.front.to_lose == 0);
    CHECK(w.allocated() == 1);
    w.front.to_lose = lost;
    CHECK(w.release("match-1").result == outcome::allocated);
    CHECK(w.allocated() == 0);
  }
}

TEST_CASE("the same id again, by a matchmaker that was restarted, gets the same server; another wish with it is refused") {
  world w{3};
  auto const first = w.allocate(w.wish("match-1"));
  auto const again = w.allocate(w.wish("match-1"));
  CHECK(again.result == outcome::allocated);
  CHECK(again.server->meta.name == first.server->meta.name);
  auto other = w.wish("match-1");
  other.allocation.spec.metadata.labels.set("a", "b");
  auto const refused = w.allocate(std::move(other));
  CHECK(refused.result == outcome::invalid);
  CHECK(refused.message.find("was used for another request") != std::string::npos);
  CHECK(w.allocated() == 1);
}

TEST_CASE("who waits gets the server that is given back") {
  world w{1};
  w.allocate(w.wish("held"));
  auto wish = w.wish("waits");
  CHECK(w.allocate(wish).result == outcome::exhausted);
  wish.wait = 20s;
  std::optional<ticket_result> out;
  w.client->async_allocate(std::move(wish), w.keep(out));
  auto const before = w.front.requests;
  run_until(w.io, [&] { return w.front.requests > before; });
  CHECK(w.release("held").result == outcome::allocated);
  w.wait(out);
  CHECK(out->result == outcome::allocated);
  CHECK(out->server->meta.name == "gs0");
}

TEST_CASE("before the servers are listed nobody is told that there is no such claim") {
  world w{1};
  w.listed = false;
  raw_client asks{w.io, w.port};
  auto const get_claim = get_text("/v1/claims/match-1?namespace=default");
  auto const early = asks.ask(get_claim);
  CHECK(early.status == 503);
  CHECK(early.field("retry-after") == "1");
  w.listed = true;
  CHECK(asks.ask(get_claim).status == 404);
  w.allocate(w.wish("match-1"));
  w.listed = false;
  CHECK(asks.ask(get_claim).status == 200);
}

TEST_CASE("a claim that is not confirmed comes back by itself") {
  world w{1};
  auto wish = w.wish("match-1");
  wish.confirm = false;
  wish.claim_ttl = 5s;
  auto const got = w.allocate(std::move(wish));
  CHECK(got.result == outcome::allocated);
  CHECK_FALSE(got.confirmed);
  CHECK(w.allocated() == 1);
  w.time.advance(6s);
  run_until(w.io, [&] { return w.allocated() == 0; });
}
