#include "reading.hpp"

#include <agones_alloc/json/status.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;
using json_tests::error_of;
using json_tests::parsed;

namespace {
field_error const negative{field_error_type::invalid, "spec.counters[a].amount", "-1", "must be greater than or equal to 0"};
field_error const forbidden{field_error_type::forbidden, "spec.priorities", "", "Feature CountsAndLists must be enabled"};
}  // namespace

TEST_CASE("one validation error is a Status with one cause") {
  CHECK(invalid_status("my-name", {negative}) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"GameServerAllocation.allocation.agones.dev \"my-name\" is invalid: spec.counters[a].amount: Invalid value: -1: must be greater than or equal to 0","reason":"Invalid","details":{"name":"my-name","group":"allocation.agones.dev","kind":"GameServerAllocation","causes":[{"reason":"FieldValueInvalid","message":"Invalid value: -1: must be greater than or equal to 0","field":"spec.counters[a].amount"}]},"code":422})");
}

TEST_CASE("several errors: the message loses duplicates, the causes keep them, no name is left out") {
  auto const value = parsed(invalid_status("", {negative, forbidden, negative}));
  CHECK(value.at("message") ==
        "GameServerAllocation.allocation.agones.dev \"\" is invalid: [spec.counters[a].amount: Invalid value: -1: must be greater than "
        "or equal to 0, spec.priorities: Forbidden: Feature CountsAndLists must be enabled]");
  CHECK(value.at("details").at("causes").as_array().size() == 3);
  CHECK_FALSE(value.at("details").as_object().contains("name"));
}

TEST_CASE("a failure prints code, reason and message; the reason defaults to the code's word") {
  CHECK(to_json_status({.code = 409, .message = "changed"}) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"changed","reason":"Conflict","code":409})");
  CHECK(to_json_status({.code = 429, .reason = "Busy", .message = "m", .retry_after = std::chrono::seconds{2}}) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"m","reason":"Busy","details":{"retryAfterSeconds":2},"code":429})");
  CHECK(to_json_status({.code = 418, .message = "m"}) ==
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"m","code":418})");
}

TEST_CASE("a Status of an API server is read") {
  api_status const busy{.code = 429, .reason = "TooManyRequests", .message = "slow \"down\"", .retry_after = std::chrono::seconds{3}};
  CHECK(read_status(parsed(to_json_status(busy))).value() == busy);
  CHECK(read_status(parsed(R"({"status":"Failure","details":{"causes":[{}]}})"))->code == 0);
  CHECK(error_of(read_status(parsed(R"({"kind":"Pod"})"))) == "kind: expected Status, got Pod");
}
