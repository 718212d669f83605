// `POST /v1/query`: both wire forms, counts, breakdown and names, and that nothing is taken.
#include "../support/servers.hpp"
#include "front_end_fixture.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/beast/fleets/query_front_end.hpp>
#include <agones_alloc/beast/service_document.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace agones_alloc;
using namespace beast_test;
using test_support::make_server;

namespace {

struct query_fixture {
  explicit query_fixture(front_end_options options = {}) : front_end{allocates, time, std::move(options), "here"} {
    REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
  }
  ~query_fixture() {
    listener.close();
    settle(io);
  }
  void put(std::string_view name, std::string_view fleet = "fleet", game_server_state state = game_server_state::ready) {
    cache.store(store.create(make_server(name, fleet, state)).value());
  }
  auto ask(std::string_view body, std::string_view query = {}) -> answer {
    raw_client client{io, listener.port()};
    return client.ask(request_text("POST", "/v1/query" + std::string{query}, "Content-Type: application/json\r\n", body));
  }

  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  memory_store store{io.get_executor(), memory_store_options{.clock = &time}};
  ready_cache cache;
  seeded_random random{1};
  allocator allocates{io.get_executor(), cache, store, time, random};
  query_front_end front_end;
  http_listener listener{io.get_executor(), front_end, time};
};

}  // namespace

TEST_CASE_FIXTURE(query_fixture, "both forms are answered with the count, the breakdown and the first names, and nothing is taken") {
  for (auto const* name : {"a", "b", "c"}) put(name);
  put("x", "other");
  put("y", "fleet", game_server_state::allocated);
  for (auto const* body :
       {R"({"metadata":{"namespace":"default"},"spec":{"selectors":[{"matchLabels":{"agones.dev/fleet":"fleet"}}]}})",
        R"({"namespace":"default","gameServerSelectors":[{"matchLabels":{"agones.dev/fleet":"fleet"}}]})"}) {
    auto const got = ask(body, "?names=2");
    CHECK(got.status == 200);
    CHECK(json_at(got.body, "/result") == "\"Available\"");
    CHECK(json_at(got.body, "/clusterName") == "\"here\"");
    CHECK(json_at(got.body, "/fits") == "3");
    CHECK(json_at(got.body, "/exact") == "true");
    CHECK(json_at(got.body, "/gameServers") == R"(["a","b"])");
    CHECK(json_at(got.body, "/selectors/0/clauses/0/remaining") == "5");
    CHECK(json_at(got.body, "/selectors/0/clauses/2/remaining") == "3");
  }
  CHECK(cache.in_flight() == 0);
  CHECK(cache.find({"default", "a"})->status.state == game_server_state::ready);
}

TEST_CASE_FIXTURE(query_fixture, "where there is none, the breakdown says why") {
  put("a");
  auto const got = ask(R"({"spec":{"selectors":[{"matchLabels":{"agones.dev/fleet":"nosuch"}}]}})", "?namespace=default");
  CHECK(got.status == 200);
  CHECK(json_at(got.body, "/result") == "\"UnAllocated\"");
  CHECK(json_at(got.body, "/fits") == "0");
  CHECK(json_at(got.body, "/selectors/0/clauses/1/name") == "\"label agones.dev/fleet=nosuch\"");
  CHECK(json_at(got.body, "/selectors/0/clauses/1/remaining") == "0");
  CHECK(json_at(got.body, "/gameServers") == "[]");
}

TEST_CASE_FIXTURE(query_fixture, "several selectors are summed where no server can match two, and bounded where one can") {
  for (auto const* name : {"a", "b"}) put(name, "one");
  put("c", "two");
  auto const of = [&](std::string_view first, std::string_view second) {
    return ask(R"({"namespace":"default","gameServerSelectors":[{"matchLabels":{"agones.dev/fleet":")" + std::string{first} +
               R"("}},)" + std::string{second} + "]}");
  };
  auto const apart = of("one", R"({"matchLabels":{"agones.dev/fleet":"two"}})");
  CHECK(json_at(apart.body, "/fits") == "3");
  CHECK(json_at(apart.body, "/exact") == "true");
  CHECK(json_at(apart.body, "/gameServers") == R"(["a","b","c"])");
  auto const mixed = of("one", "{}");
  CHECK(json_at(mixed.body, "/fits") == "3");
  CHECK(json_at(mixed.body, "/exact") == "false");
}

TEST_CASE_FIXTURE(query_fixture, "what is wrong is told with its place") {
  CHECK(json_at(ask("{}").body, "/message") == "\"namespace: must not be empty\"");
  CHECK(json_at(ask("{}", "?names=101&namespace=a").body, "/message") == "\"names: a number from 0 to 100 is wanted\"");
  CHECK(json_at(ask("{}", "?nosuch=1&namespace=a").body, "/message") == "\"nosuch: is no parameter of this path\"");
  CHECK(ask("[]", "?namespace=a").status == 400);
  CHECK(ask("{", "?namespace=a").status == 400);
  CHECK(ask(R"({"namespace":"b"})", "?namespace=a").status == 400);
  CHECK(ask(R"({"spec":{"selectors":[{"gameServerState":"Nope"}]}})", "?namespace=a").status == 422);
  raw_client client{io, listener.port()};
  CHECK(client.ask(request_text("GET", "/v1/query", "", "")).status == 405);
  CHECK(client.ask(request_text("POST", "/v1/query", "Origin: http://evil.example\r\n", "{}")).status == 403);
}

TEST_CASE("a query needs the same right as an allocation") {
  front_end_options options;
  options.may_allocate = [](http_request const&, std::string_view ns) { return ns == "red"; };
  query_fixture f{options};
  CHECK(f.ask("{}", "?namespace=blue").status == 403);
  CHECK(f.ask("{}", "?namespace=red").status == 200);
}

TEST_CASE("the service document is JSON, and names each path once") {
  auto const value = parse_json(service_document_text());
  REQUIRE(value.has_value());
  CHECK(value->at("openapi").as_string() == "3.0.3");
  CHECK(value->at("info").at("version").as_string() == AGONES_ALLOC_VERSION);
  CHECK(value->at("paths").as_object().contains("/v1/fleets"));
  CHECK(value->at("paths").as_object().contains("/gameserverallocation"));
}
