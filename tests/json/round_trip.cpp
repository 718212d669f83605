#include "random_server.hpp"
#include "reading.hpp"

#include <agones_alloc/json/response.hpp>
#include <agones_alloc/json/write.hpp>

#include <doctest/doctest.h>

#include <memory>

using namespace agones_alloc;
using json_tests::parsed;

TEST_CASE("random game servers survive being written and read") {
  json_tests::random_server random{7};
  for (int i = 0; i < 3000; ++i) {
    auto const server = random.make();
    auto const text = to_json(server);
    CAPTURE(text);
    auto const read = read_game_server(parsed(text));
    REQUIRE(read.has_value());
    REQUIRE(*read == server);
    REQUIRE(to_json(*read) == text);
  }
}

TEST_CASE("random answers survive being written and read") {
  json_tests::random_server random{8};
  game_server_allocation const request{};
  for (int i = 0; i < 1000; ++i) {
    allocation_result result;
    result.result = outcome::allocated;
    result.server = std::make_shared<game_server const>(random.make());
    auto const answer = allocation_response(request, result);
    auto const text = to_json(answer);
    CAPTURE(text);
    auto const read = read_game_server_allocation(parsed(text));
    REQUIRE(read.has_value());
    REQUIRE(*read == answer);
  }
}

TEST_CASE("extras of the metadata survive being written and read") {
  std::string_view const text = R"({"metadata":{"generateName":"g","selfLink":"s","deletionGracePeriodSeconds":-1,"finalizers":["a","b"],
    "ownerReferences":[{"uid":"\u0000\"","blockOwnerDeletion":true}],"managedFields":[{"fieldsV1":{"f:a":{}}}]}})";
  auto const server = json_tests::game_server_of(text);
  CHECK(json_tests::game_server_of(to_json(server)) == server);
  CHECK(server.meta.extra->deletion_grace_period_seconds == -1);
}
