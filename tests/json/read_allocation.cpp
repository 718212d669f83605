#include "reading.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

using namespace agones_alloc;
using json_tests::allocation_error;
using json_tests::allocation_of;

TEST_CASE("a whole allocation is read") {
  auto const gsa = allocation_of(R"({"apiVersion":"allocation.agones.dev/v1","kind":"GameServerAllocation",
    "metadata":{"name":"n","generateName":"g-","namespace":"ns","labels":{"b":"2","a":"1"}},
    "spec":{"multiClusterSetting":{"enabled":true,"policySelector":{"matchLabels":{"p":"q"}}},
      "required":{"gameServerState":"Allocated","players":{"minAvailable":1,"maxAvailable":9}},
      "preferred":[{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}],
      "priorities":[{"type":"Counter","key":"rooms","order":"Descending"}],
      "selectors":[{"matchLabels":{"l":"v"},"counters":{"rooms":{"minCount":1,"maxCount":2,"minAvailable":3,"maxAvailable":4}},
        "lists":{"players":{"containsValue":"x","minAvailable":5,"maxAvailable":6}}}],
      "scheduling":"Distributed","metadata":{"labels":{"x":"y"},"annotations":{"z":"w"}},
      "counters":{"rooms":{"action":"Increment","amount":0,"capacity":7}},
      "lists":{"players":{"addValues":["a"],"deleteValues":["b"],"capacity":8}}}})");
  CHECK(gsa.kind == "GameServerAllocation");
  CHECK(gsa.meta.name == "n");
  CHECK(gsa.meta.extra->generate_name == "g-");
  CHECK(gsa.meta.labels == string_map{{"a", "1"}, {"b", "2"}});
  auto const& spec = gsa.spec;
  CHECK(spec.multi_cluster.enabled);
  CHECK(spec.multi_cluster.policy_selector.match_labels.find("p") == "q");
  CHECK(spec.required.game_server_state == shared_string{"Allocated"});
  CHECK(spec.required.players == player_selector{1, 9});
  CHECK(spec.preferred.at(0).labels.match_expressions.at(0) == label_requirement{"k", "In", {"v"}});
  CHECK(spec.priorities->at(0) == priority{"Counter", "rooms", "Descending"});
  CHECK(spec.selectors.at(0).counters->at("rooms") == counter_selector{1, 2, 3, 4});
  CHECK(spec.selectors.at(0).lists->at("players") == list_selector{"x", 5, 6});
  CHECK(spec.scheduling == "Distributed");
  CHECK(spec.metadata.annotations.find("z") == "w");
  CHECK(spec.counters->at("rooms") == counter_action{"Increment", 0, 7});
  CHECK(spec.lists->at("players") == list_action{{"a"}, {"b"}, 8});
}

TEST_CASE("64-bit integers are exact to their limits") {
  auto const amount = [](std::string_view number) {
    return allocation_of(R"({"spec":{"counters":{"c":{"amount":)" + std::string{number} + "}}}}").spec.counters->at("c").amount;
  };
  CHECK(amount("9007199254740993") == 9007199254740993);
  CHECK(amount("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(amount("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK(amount("-0") == 0);
  CHECK(amount("null") == std::nullopt);
}

TEST_CASE("a number that is no int64 is refused with its path") {
  auto const error = [](std::string_view number) {
    return allocation_error(R"({"spec":{"selectors":[{},{"counters":{"rooms":{"minCount":)" + std::string{number} + "}}}]}}");
  };
  std::string const at = "spec.selectors[1].counters[rooms].minCount: expected a 64-bit integer, ";
  CHECK(error("1.0") == at + "got a number with a fraction, an exponent or too many digits");
  CHECK(error("1e2") == at + "got a number with a fraction, an exponent or too many digits");
  CHECK(error("\"1\"") == at + "got a string");
  CHECK(error("true") == at + "got a boolean");
  CHECK(error("9223372036854775808") == at + "9223372036854775808 is out of range");
  CHECK(error("-9223372036854775809").starts_with(at));
  CHECK(error("18446744073709551616").starts_with(at));
  CHECK(error("1e400").starts_with(at));
}

TEST_CASE("types are strict") {
  CHECK(allocation_error(R"({"spec":{"scheduling":5}})") == "spec.scheduling: expected a string, got an integer");
  CHECK(allocation_error(R"({"spec":{"selectors":{}}})") == "spec.selectors: expected an array, got an object");
  CHECK(allocation_error(R"({"spec":[]})") == "spec: expected an object, got an array");
  CHECK(allocation_error(R"({"spec":{"required":{"matchLabels":{"tier":1}}}})") ==
        "spec.required.matchLabels[tier]: expected a string, got an integer");
  CHECK(allocation_error(R"({"spec":{"multiClusterSetting":{"enabled":"true"}}})") ==
        "spec.multiClusterSetting.enabled: expected a boolean, got a string");
  CHECK(allocation_error(R"({"spec":{"lists":{"l":{"addValues":["a",2]}}}})") ==
        "spec.lists[l].addValues[1]: expected a string, got an integer");
  CHECK(allocation_error(R"({"metadata":{"creationTimestamp":""}})") ==
        "metadata.creationTimestamp: expected an RFC 3339 time, got \"\"");
  CHECK(allocation_error(R"({"status":{"ports":[{"port":2147483648}]}})") ==
        "status.ports[0].port: expected a 32-bit integer, 2147483648 is out of range");
  CHECK(allocation_error("[]") == "expected an object, got an array");
  CHECK(allocation_error("\"text\"") == "expected an object, got a string");
}

TEST_CASE("keys are case-sensitive and unknown keys are ignored") {
  auto const gsa = allocation_of(R"({"SPEC":{"scheduling":5},"spec":{"Scheduling":5,"x":{"y":[1]},"scheduling":"Packed"}})");
  CHECK(gsa.spec.scheduling == "Packed");
}

TEST_CASE("null is zero or absent, at every level") {
  CHECK(allocation_of("null") == game_server_allocation{});
  CHECK(allocation_of(R"({"kind":null,"metadata":null,"spec":null,"status":null})") == game_server_allocation{});
  auto const gsa = allocation_of(R"({"metadata":{"name":null,"labels":null,"creationTimestamp":null,"ownerReferences":null},
    "spec":{"priorities":null,"selectors":[null],"counters":null,"lists":{"l":null},
            "metadata":{"labels":{"a":null}},"required":{"gameServerState":null,"players":null,"counters":null}}})");
  CHECK(gsa.meta == object_meta{});
  CHECK_FALSE(gsa.spec.priorities.has_value());
  CHECK_FALSE(gsa.spec.counters.has_value());
  CHECK(gsa.spec.selectors == std::vector<game_server_selector>(1));
  CHECK(gsa.spec.lists->at("l") == list_action{});
  CHECK(gsa.spec.metadata.labels.find("a") == "");
  CHECK(gsa.spec.required == game_server_selector{});
}

TEST_CASE("presence is kept where it counts: empty is not absent") {
  auto const gsa = allocation_of(R"({"spec":{"priorities":[],"counters":{},"lists":{},
    "required":{"gameServerState":"","players":{},"counters":{},"lists":{}}}})");
  CHECK(gsa.spec.priorities.has_value());
  CHECK(gsa.spec.counters.has_value());
  CHECK(gsa.spec.lists.has_value());
  CHECK(gsa.spec.required.game_server_state == shared_string{});
  CHECK(gsa.spec.required.game_server_state.has_value());
  CHECK(gsa.spec.required.players.has_value());
  CHECK(gsa.spec.required.counters.has_value());
  CHECK(gsa.spec.required.lists.has_value());
}

TEST_CASE("another kind or version is refused before any of its fields") {
  auto const error = read_game_server_allocation(json_tests::parsed(R"({"spec":{"scheduling":5},"kind":"Fleet"})")).error();
  CHECK(error.fault == decode_fault::kind);
  CHECK(to_string(error) == "kind: expected GameServerAllocation, got Fleet");
  CHECK(allocation_error(R"({"apiVersion":"allocation.agones.dev/v2","kind":"GameServerAllocation"})") ==
        "apiVersion: expected allocation.agones.dev/v1, got allocation.agones.dev/v2");
  CHECK(allocation_error(R"({"kind":7})") == "kind: expected GameServerAllocation, got an integer");
  CHECK(allocation_error(R"({"kind":"","apiVersion":""})").empty());
}
