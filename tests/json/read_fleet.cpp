#include "reading.hpp"

#include <agones_alloc/json/write.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;
using json_tests::error_of;
using json_tests::parsed;

namespace {
constexpr std::string_view whole_fleet = R"({"apiVersion":"agones.dev/v1","kind":"Fleet","metadata":{"name":"f","namespace":"ns"},
  "spec":{"replicas":3,"scheduling":"Distributed","strategy":{"type":"RollingUpdate"},
    "priorities":[{"type":"List","key":"l","order":"Ascending"}],"allocationOverflow":{"labels":{"o":"1"}},
    "template":{"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"}},
      "spec":{"ports":[{"name":"p","portPolicy":"Static","containerPort":7654,"hostPort":7777,"protocol":"TCP"}],
        "health":{"disabled":true},"counters":{"c":{"count":1},"d":{"count":2,"capacity":0}},
        "lists":{"l":{"values":["x"]},"m":{"capacity":5}},"players":{"initialCapacity":10},
        "template":{"spec":{"containers":[{"name":"s","image":"i","resources":{"requests":{"cpu":"20m","memory":"64Mi"}}}]}}}}},
  "status":{"replicas":3,"readyReplicas":2,"reservedReplicas":0,"allocatedReplicas":1,"players":{"count":1,"capacity":2},
    "counters":{"c":{"allocatedCount":1,"allocatedCapacity":2,"count":3,"capacity":4}}}})";
}

TEST_CASE("a whole fleet is read") {
  auto const read = read_fleet(parsed(whole_fleet));
  REQUIRE_MESSAGE(read.has_value(), error_of(read));
  CHECK(read->replicas == 3);
  CHECK(read->scheduling == "Distributed");
  CHECK(read->priorities.at(0) == priority{"List", "l", "Ascending"});
  CHECK(read->allocation_overflow->labels.find("o") == "1");
  auto const& made = read->server_template;
  CHECK(made.labels.find("a") == "b");
  CHECK(made.annotations.find("c") == "d");
  CHECK(made.ports.at(0) == game_server_port_template{"p", "Static", "TCP", 7654, 7777});
  CHECK(made.players_initial_capacity == 10);
  CHECK(made.spec.view().find(R"("image":"i")") != std::string_view::npos);
  CHECK(read->status.allocated_replicas == 1);
  CHECK(read->status.players == counter_status{1, 2});
  CHECK(read->status.counters.at("c") == aggregated_capacity{1, 2, 3, 4});
}

TEST_CASE("a template's capacities default to the CRD's 1000; an explicit 0 stays") {
  auto const made = read_fleet(parsed(whole_fleet))->server_template;
  CHECK(made.counters.at("c") == counter_status{1, 1000});
  CHECK(made.counters.at("d") == counter_status{2, 0});
  CHECK(made.lists.at("l") == list_status{1000, std::vector<shared_string>{"x"}});
  CHECK(made.lists.at("m") == list_status{5, std::nullopt});
}

TEST_CASE("a fleet survives being written and read again") {
  auto const read = read_fleet(parsed(whole_fleet)).value();
  auto const again = read_fleet(parsed(to_json(read)));
  REQUIRE_MESSAGE(again.has_value(), error_of(again));
  CHECK(*again == read);
}

TEST_CASE("a fleet's errors name the field") {
  auto const error = [](std::string_view text) { return error_of(read_fleet(parsed(text))); };
  CHECK(error(R"({"spec":{"replicas":"3"}})") == "spec.replicas: expected a 32-bit integer, got a string");
  CHECK(error(R"({"spec":{"replicas":4294967296}})") == "spec.replicas: expected a 32-bit integer, 4294967296 is out of range");
  CHECK(error(R"({"spec":{"template":{"spec":{"counters":{"c":{"count":1.5}}}}}})").starts_with(
      "spec.template.spec.counters[c].count: expected a 64-bit integer"));
  CHECK(error(R"({"spec":{"template":{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"1X"}}}]}}}}}})")
            .starts_with("spec.template.spec.template.spec.containers[0].resources.limits[cpu]: invalid quantity"));
  CHECK(error(R"({"kind":"GameServer"})") == "kind: expected Fleet, got GameServer");
}

TEST_CASE("a single game server's manifest reads as a template") {
  auto const made = read_game_server_template(parsed(
      R"({"apiVersion":"agones.dev/v1","kind":"GameServer","metadata":{"generateName":"x-","labels":{"a":"b"}},
          "spec":{"ports":[{"containerPort":1}],"counters":{"c":{}}}})"));
  CHECK(made->labels.find("a") == "b");
  CHECK(made->ports.at(0).container_port == 1);
  CHECK(made->counters.at("c") == counter_status{0, 1000});
}
