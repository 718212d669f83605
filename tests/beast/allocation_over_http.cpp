// The front ends on the real allocator and a store in memory: what a client does decides what is handed out.
#include "front_end_fixture.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/beast/allocator_backend.hpp>
#include <agones_alloc/beast/kubernetes_front_end.hpp>
#include <agones_alloc/beast/rest_front_end.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace {

using namespace agones_alloc;
using namespace beast_test;

/// The next update takes a second to reach the store.
class slow_update final : public fault_plan {
 public:
  auto next(store_operation operation, object_key const&) -> store_fault override {
    store_fault out;
    if (operation == store_operation::update) out.before = std::chrono::seconds{1};
    return out;
  }
};

struct cluster {
  explicit cluster(int servers) {
    for (int i = 0; i != servers; ++i) {
      game_server server;
      server.meta.name = "gs" + std::to_string(i);
      server.meta.namespace_ = "default";
      server.status.state = game_server_state::ready;
      cache.store(store.create(server).value());
    }
    REQUIRE_FALSE(kubernetes_listener.listen("127.0.0.1", 0));
    REQUIRE_FALSE(rest_listener.listen("127.0.0.1", 0));
  }
  ~cluster() {
    kubernetes_listener.close();
    rest_listener.close();
    settle(io);
  }

  auto state(std::string const& name) -> game_server_state { return store.find({"default", name})->status.state; }

  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  memory_store store{io.get_executor(), memory_store_options{.clock = &time}};
  ready_cache cache;
  seeded_random random{1};
  allocator allocate{io.get_executor(), cache, store, time, random};
  allocator_backend backend{allocate};
  kubernetes_front_end kubernetes{backend, time, {}};
  rest_front_end rest{backend, time, {}};
  http_listener kubernetes_listener{io.get_executor(), kubernetes, time};
  http_listener rest_listener{io.get_executor(), rest, time};
};

auto kubernetes_request(std::string_view query = {}) -> std::string {
  return request_text("POST", "/apis/allocation.agones.dev/v1/namespaces/default/gameserverallocations" + std::string{query},
                      "Content-Type: application/json\r\n", R"({"spec":{}})");
}
auto rest_request(std::string_view query = {}) -> std::string {
  return request_text("POST", "/gameserverallocation" + std::string{query}, "", R"({"namespace":"default"})");
}

}  // namespace

TEST_CASE("a client that leaves before its write reaches the store costs no server") {
  for (bool const over_rest : {false, true}) {
    CAPTURE(over_rest);
    cluster c{1};
    c.store.set_faults(std::make_shared<slow_update>());
    auto const port = over_rest ? c.rest_listener.port() : c.kubernetes_listener.port();
    {
      raw_client leaver{c.io, port};
      leaver.send(over_rest ? rest_request() : kubernetes_request());
      run_until(c.io, [&] { return c.allocate.outstanding() == 1; });
      settle(c.io);
    }
    run_until(c.io, [&] { return c.allocate.outstanding() == 0; });
    c.time.advance(std::chrono::seconds{2});
    settle(c.io);
    CHECK(c.state("gs0") == game_server_state::ready);
    c.store.set_faults(nullptr);
    raw_client next{c.io, port};
    CHECK(next.ask(over_rest ? rest_request() : kubernetes_request()).body.find("gs0") != std::string::npos);
    CHECK(c.state("gs0") == game_server_state::allocated);
  }
}

TEST_CASE("a dry run names a server and leaves it free") {
  cluster c{1};
  raw_client kubernetes{c.io, c.kubernetes_listener.port()};
  raw_client rest{c.io, c.rest_listener.port()};
  CHECK(json_at(kubernetes.ask(kubernetes_request("?dryRun=All")).body, "/status/gameServerName") == R"("gs0")");
  CHECK(json_at(rest.ask(rest_request("?dryRun=All")).body, "/gameServerName") == R"("gs0")");
  CHECK(c.state("gs0") == game_server_state::ready);
  CHECK(rest.ask(rest_request()).status == 200);
  CHECK(c.state("gs0") == game_server_state::allocated);
  CHECK(json_at(kubernetes.ask(kubernetes_request("?dryRun=All")).body, "/status/state") == R"("UnAllocated")");
}

TEST_CASE("an exhausted answer says how many servers were left after each clause") {
  cluster c{3};
  raw_client client{c.io, c.kubernetes_listener.port()};
  auto const answer =
      client.ask(request_text("POST", "/apis/allocation.agones.dev/v1/namespaces/default/gameserverallocations",
                              "Content-Type: application/json\r\n", R"({"spec":{"selectors":[{"matchLabels":{"a":"b"}}]}})"));
  CHECK(json_at(answer.body, "/status/state") == R"("UnAllocated")");
  CHECK(answer.field("agones-alloc-breakdown").starts_with("namespace default=3; label a=b=0"));
}

TEST_CASE("a request's own timeout ends it before the write is sent") {
  cluster c{1};
  c.store.set_faults(std::make_shared<slow_update>());
  raw_client client{c.io, c.kubernetes_listener.port()};
  client.send(kubernetes_request("?timeout=500ms"));
  run_until(c.io, [&] { return c.allocate.outstanding() == 1; });
  settle(c.io);
  c.time.advance(std::chrono::milliseconds{500});
  CHECK(client.receive().status == 504);
}
