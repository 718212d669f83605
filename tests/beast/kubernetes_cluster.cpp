#include "../support/reports.hpp"
#include "../support/servers.hpp"
#include "scripted_client.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_cluster.hpp>
#include <agones_alloc/json/write.hpp>

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>

using namespace beast_tests;
using namespace test_support;

namespace {

auto list_of(std::string_view name) -> std::string {
  auto server = make_server(name);
  server.meta.resource_version = "5";
  return R"({"metadata":{"resourceVersion":"9"},"items":[)" + to_json(server) + "]}";
}

struct cluster_fixture {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  scripted_client client{context.get_executor()};
  ready_cache cache;
  scripted_random random;
  log_list log;
  kubernetes_cluster_options options{.rank_nodes = false, .log = &log};

  auto make() { return std::make_unique<kubernetes_cluster>(context.get_executor(), client, cache, clock, random, options); }
  void run() {
    context.restart();
    context.poll();
  }
};

}  // namespace

TEST_CASE_FIXTURE(cluster_fixture, "an allocation in front of an API server is one patch and one event") {
  auto cluster = make();
  auto allocates = std::make_unique<allocator>(context.get_executor(), cache, cluster->servers(), clock, random,
                                               allocator_options{}, allocator_ports{cluster->events(), nullptr, &log});
  cluster->start();
  run();
  CHECK_FALSE(cluster->synced());
  client.answer(0, 200, list_of("a"));
  run();
  CHECK(cluster->synced());
  CHECK(cache.size() == 1);
  CHECK(client.request(1).target.find("watch=true") != std::string::npos);

  std::optional<allocation_result> result;
  allocates->async_allocate(fleet_request(), {}, [&](error_code, allocation_result r) { result = std::move(r); });
  run();
  REQUIRE(client.calls() == 3);
  CHECK(client.request(2).method == "PATCH");
  auto written = make_server("a", "fleet", game_server_state::allocated);
  written.meta.resource_version = "12";
  client.answer(2, 200, to_json(written));
  run();
  REQUIRE(result);
  CHECK(result->result == outcome::allocated);
  CHECK(result->server->meta.resource_version == "12");
  REQUIRE(client.calls() == 4);
  CHECK(client.request(3).target == "/api/v1/namespaces/default/events");
  allocates.reset();
  cluster.reset();
  run();
}

TEST_CASE_FIXTURE(cluster_fixture, "several namespaces are listed each, and synced when all are") {
  options.namespaces = {"x", "y"};
  options.write_events = false;
  auto cluster = make();
  CHECK(cluster->events() == nullptr);
  cluster->start();
  run();
  REQUIRE(client.calls() == 2);
  CHECK(client.request(0).target.substr(0, 51) == "/apis/agones.dev/v1/namespaces/x/gameservers?limit=");
  CHECK(client.request(1).target.substr(0, 51) == "/apis/agones.dev/v1/namespaces/y/gameservers?limit=");
  client.answer(0, 200, list_of("a"));
  run();
  CHECK_FALSE(cluster->synced());
  client.answer(1, 200, list_of("b"));
  run();
  CHECK(cluster->synced());
  CHECK(cache.size() == 2);
  CHECK(client.calls() == 4);
  cluster.reset();
  run();
}

TEST_CASE_FIXTURE(cluster_fixture, "namespaces that make no sense are refused") {
  options.namespaces = {"x", "y", "x"};
  CHECK_THROWS_WITH_AS(make(), "kubernetes_cluster_options.namespaces: \"x\" is named twice", std::invalid_argument);
  options.namespaces = {""};
  CHECK_THROWS_WITH_AS(make(), "kubernetes_cluster_options.namespaces: a name must not be empty", std::invalid_argument);
}

TEST_CASE_FIXTURE(cluster_fixture, "servers on nodes that are cordoned or missing go last, by what the API server says of nodes") {
  options.rank_nodes = true;
  options.write_events = false;
  auto cluster = make();
  auto const open = [&] { return cache.take_open_nodes().value_or(nullptr); };
  cluster->start();
  run();
  REQUIRE(client.calls() == 2);
  CHECK(client.request(1).target == "/api/v1/nodes?limit=500");
  client.answer(0, 200, list_of("a"));
  run();
  CHECK_FALSE(cache.take_open_nodes().has_value());  // nothing is known of nodes, so none is closing
  auto const node = [](std::string const& name, std::string const& spec) {
    return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"(","resourceVersion":"4"},"spec":)" + spec + "}";
  };
  client.answer(1, 200, R"({"metadata":{"resourceVersion":"9"},"items":[)" + node("n1", "{}") + "," +
                            node("n2", R"({"unschedulable":true})") + "]}");
  run();
  auto known = open();
  REQUIRE(known != nullptr);
  CHECK(known->contains("n1"));
  CHECK_FALSE(known->contains("n2"));
  CHECK_FALSE(known->contains("n3"));
  REQUIRE(client.calls() == 4);
  auto const stream = client.open(3);
  run();
  auto const send = [&](std::string const& type, std::string const& object) {
    stream->send(R"({"type":")" + type + R"(","object":)" + object + "}\n");
    run();
  };
  send("MODIFIED", node("n1", R"({"providerID":"x"})"));
  CHECK_FALSE(cache.take_open_nodes().has_value());  // it did not open or close
  send("MODIFIED", node("n2", "{}"));
  known = open();
  REQUIRE(known != nullptr);
  CHECK(known->contains("n2"));
  send("DELETED", node("n1", "{}"));
  known = open();
  REQUIRE(known != nullptr);
  CHECK_FALSE(known->contains("n1"));
  cluster.reset();
  run();
}

TEST_CASE_FIXTURE(cluster_fixture, "without the right to list nodes all of them rank alike, and game servers do not wait") {
  options.rank_nodes = true;
  options.write_events = false;
  auto cluster = make();
  cluster->start();
  run();
  client.answer(1, 403, R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403})");
  client.answer(0, 200, list_of("a"));
  run();
  CHECK(cluster->synced());
  CHECK_FALSE(cache.take_open_nodes().has_value());
  cluster.reset();
  run();
}
