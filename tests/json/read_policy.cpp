#include "reading.hpp"

#include <agones_alloc/json/write.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;
using json_tests::error_of;
using json_tests::parsed;

TEST_CASE("a whole policy is read and written") {
  auto const text = R"({"kind":"GameServerAllocationPolicy","apiVersion":"multicluster.agones.dev/v1","metadata":{"name":"p","creationTimestamp":null},"spec":{"priority":1,"weight":9007199254740993,"connectionInfo":{"clusterName":"c","allocationEndpoints":["a:1","b:2"],"secretName":"s","namespace":"n","serverCa":"aGVsbG8="}}})";
  auto const policy = read_game_server_allocation_policy(parsed(text));
  REQUIRE_MESSAGE(policy.has_value(), error_of(policy));
  CHECK(policy->priority == 1);
  CHECK(policy->weight == 9007199254740993);
  CHECK(policy->connection_info.allocation_endpoints.at(1) == "b:2");
  CHECK(policy->connection_info.server_ca == "hello");
  CHECK(to_json(*policy) == text);
}

TEST_CASE("the 2019 version of a policy is read too") {
  CHECK(read_game_server_allocation_policy(parsed(R"({"apiVersion":"multicluster.agones.dev/v1alpha1"})")).has_value());
  CHECK(error_of(read_game_server_allocation_policy(parsed(R"({"apiVersion":"agones.dev/v1"})"))) ==
        "apiVersion: expected multicluster.agones.dev/v1, got agones.dev/v1");
}

TEST_CASE("a policy's errors name the field") {
  auto const error = [](std::string_view text) { return error_of(read_game_server_allocation_policy(parsed(text))); };
  CHECK(error(R"({"spec":{"connectionInfo":{"serverCa":"%"}}})") ==
        "spec.connectionInfo.serverCa: expected standard base64 with padding");
  CHECK(error(R"({"spec":{"priority":2147483648}})") == "spec.priority: expected a 32-bit integer, 2147483648 is out of range");
  CHECK(error(R"({"spec":{"connectionInfo":{"allocationEndpoints":"a"}}})") ==
        "spec.connectionInfo.allocationEndpoints: expected an array, got a string");
}
