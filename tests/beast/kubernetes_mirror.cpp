#include "../support/reports.hpp"
#include "scripted_client.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_kinds.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_mirror.hpp>
#include <agones_alloc/json/parse.hpp>

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

using namespace beast_tests;
using namespace test_support;
using namespace std::chrono_literals;

namespace {

auto node_text(std::string_view name, std::string_view version, std::string_view spec = "{}") -> std::string {
  return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + std::string{name} + R"(","resourceVersion":")" +
         std::string{version} + R"("},"spec":)" + std::string{spec} + R"(,"status":{"conditions":[]}})";
}

auto event_text(std::string_view type, std::string_view object) -> std::string {
  return R"({"type":")" + std::string{type} + R"(","object":)" + std::string{object} + "}\n";
}

struct mirror_fixture {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  scripted_client client{context.get_executor()};
  scripted_random random;
  int changes{0};
  std::unique_ptr<kubernetes_mirror<node_kind>> nodes;

  mirror_fixture() {
    kubernetes_mirror_options options;
    options.on_change = [this] { ++changes; };
    nodes = std::make_unique<kubernetes_mirror<node_kind>>(context.get_executor(), client, clock, random, options);
  }
  ~mirror_fixture() {
    nodes.reset();
    run();
    CHECK(clock.pending() == 0);
  }
  void run() {
    context.restart();
    context.poll();
  }
  void answer(int status, std::string body) {
    client.answer(client.last(), status, std::move(body));
    run();
  }
  void begin() {
    nodes->start();
    run();
    answer(200, R"({"metadata":{"resourceVersion":"9"},"items":[)" + node_text("a", "3") + "," +
                    node_text("b", "4", R"({"unschedulable":true})") + "]}");
  }
};

}  // namespace

TEST_CASE_FIXTURE(mirror_fixture, "a mirror lists, watches, and takes in every kind of event") {
  nodes->start();
  nodes->start();
  run();
  CHECK_FALSE(nodes->synced());
  REQUIRE(client.calls() == 1);
  CHECK(client.request(0).target == "/api/v1/nodes?limit=500");
  answer(200, R"({"metadata":{"resourceVersion":"9"},"items":[)" + node_text("b", "4", R"({"unschedulable":true})") + "]}");
  CHECK(nodes->synced());
  CHECK(changes == 1);
  REQUIRE(nodes->size() == 1);
  CHECK(is_closing(*nodes->find({"", "b"})));
  auto const stream = client.open(1);
  run();
  stream->send(event_text("ADDED", node_text("a", "10")) +
               event_text("MODIFIED", node_text("b", "11", R"({"taints":[{"key":"k","effect":"PreferNoSchedule"}]})")));
  run();
  CHECK(changes == 2);
  REQUIRE(nodes->size() == 2);
  CHECK(nodes->snapshot()[0]->meta.name == "a");
  CHECK_FALSE(is_closing(*nodes->find({"", "b"})));
  stream->send(event_text("DELETED", node_text("a", "12")));
  run();
  CHECK(nodes->find({"", "a"}) == nullptr);
}

TEST_CASE_FIXTURE(mirror_fixture, "who asks for objects is told each one's key, once the copy has it, and of lists as before") {
  std::vector<std::string> told;
  kubernetes_mirror_options options;
  options.on_change = [this] { ++changes; };
  options.on_object = [&](object_key const& key) { told.push_back(to_string(key) + (nodes->find(key) ? "" : " is gone")); };
  nodes = std::make_unique<kubernetes_mirror<node_kind>>(context.get_executor(), client, clock, random, options);
  begin();
  CHECK(changes == 1);
  CHECK(told.empty());
  auto const stream = client.open(1);
  run();
  stream->send(event_text("MODIFIED", node_text("a", "10")) + event_text("ADDED", node_text("c", "11")));
  stream->send(event_text("DELETED", node_text("b", "12")));
  run();
  CHECK(told == std::vector<std::string>{"a", "c", "b is gone"});
  CHECK(changes == 1);
}

TEST_CASE_FIXTURE(mirror_fixture, "a watch that is too old leads to a new list, which takes the copy's place") {
  begin();
  CHECK(nodes->size() == 2);
  client.open(1)->send(event_text("ERROR", R"({"kind":"Status","code":410})"));
  run();
  REQUIRE(client.calls() == 3);
  answer(200, R"({"metadata":{"resourceVersion":"20"},"items":[)" + node_text("c", "15") + "]}");
  REQUIRE(nodes->size() == 1);
  CHECK(nodes->find({"", "c"}) != nullptr);
  // Too old again at once: not without a pause.
  client.open(3)->send(event_text("ERROR", R"({"kind":"Status","code":410})"));
  run();
  CHECK(client.calls() == 4);
  CHECK(clock.next() == clock.now() + 100ms);
}

TEST_CASE_FIXTURE(mirror_fixture, "after a failure it waits longer and longer, and then goes on where it was") {
  nodes->start();
  run();
  answer(500, "");
  CHECK(clock.next() == clock.now() + 100ms);
  clock.advance(100ms);
  run();
  answer(403, "");
  CHECK(clock.next() == clock.now() + 200ms);
  clock.advance(200ms);
  run();
  answer(200, R"({"metadata":{"resourceVersion":"9"},"items":[]})");
  client.fail(3, errc::unavailable);
  run();
  CHECK(clock.next() == clock.now() + 100ms);
  clock.advance(100ms);
  run();
  CHECK(client.request(4).target.find("resourceVersion=9&") != std::string::npos);
}

TEST_CASE("taints that keep pods away, a cordon and a deletion close a node") {
  auto const read = [](std::string_view text) { return node_kind::read(parse_json(text).value()).value(); };
  CHECK_FALSE(is_closing(read(node_text("a", "1"))));
  CHECK_FALSE(is_closing(read(node_text("a", "1", R"({"unschedulable":false,"taints":null,"podCIDR":"10.0.0.0/24"})"))));
  CHECK(is_closing(read(node_text("a", "1", R"({"taints":[{"key":"k","effect":"NoSchedule"}]})"))));
  CHECK(is_closing(read(node_text("a", "1", R"({"taints":[{"key":"a","effect":"PreferNoSchedule"},{"key":"k","effect":"NoExecute"}]})"))));
  CHECK(is_closing(read(R"({"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"}})")));
  CHECK(node_kind::read(parse_json(R"({"kind":"Pod"})").value()).has_error());
  CHECK(node_kind::read(parse_json(R"({"spec":{"taints":[7]}})").value()).has_error());
}

TEST_CASE("fleets and policies can be watched as well, with their spec") {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  scripted_client client{context.get_executor()};
  kubernetes_watch<fleet_kind> fleets{context.get_executor(), client, clock};
  kubernetes_watch<policy_kind> policies{context.get_executor(), client, clock, {.ns = "games"}};
  object_list<fleet> some_fleets;
  object_list<game_server_allocation_policy> some_policies;
  fleets.async_list([&](error_code, object_list<fleet> l) { some_fleets = std::move(l); });
  policies.async_list([&](error_code, object_list<game_server_allocation_policy> l) { some_policies = std::move(l); });
  context.poll();
  CHECK(client.request(0).target == "/apis/agones.dev/v1/fleets?limit=500");
  CHECK(client.request(1).target ==
        "/apis/multicluster.agones.dev/v1/namespaces/games/gameserverallocationpolicies?limit=500");
  client.answer(0, 200, R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"f"},"spec":{"replicas":3}}]})");
  client.answer(1, 200, R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"p"},"spec":{"priority":2,"weight":5}}]})");
  context.restart();
  context.poll();
  REQUIRE(some_fleets.objects.size() == 1);
  CHECK(some_fleets.objects[0]->replicas == 3);
  REQUIRE(some_policies.objects.size() == 1);
  CHECK(some_policies.objects[0]->weight == 5);
}
