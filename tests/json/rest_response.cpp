#include "reading.hpp"

#include <agones_alloc/json/rest.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace agones_alloc;
using json_tests::allocation_of;
using json_tests::error_of;
using json_tests::parsed;

namespace {
std::string const answer =
    R"({"gameServerName":"gs1","ports":[{"name":"default","port":7777}],"address":"1.2.3.4",)"
    R"("addresses":[{"type":"ExternalIP","address":"1.2.3.4"}],"nodeName":"n1","source":"local",)"
    R"("metadata":{"labels":{"a":"b"},"annotations":{}},"counters":{"rooms":{"count":"1","capacity":"9223372036854775807"}},)"
    R"("lists":{"players":{"values":["x"],"capacity":"5"}}})";
auto allocated() -> game_server_allocation {
  return allocation_of(R"({"status":{"state":"Allocated","gameServerName":"gs1","ports":[{"name":"default","port":7777}],
    "address":"1.2.3.4","addresses":[{"type":"ExternalIP","address":"1.2.3.4"}],"nodeName":"n1","source":"local",
    "metadata":{"labels":{"a":"b"}},"counters":{"rooms":{"count":1,"capacity":9223372036854775807}},
    "lists":{"players":{"capacity":5,"values":["x"]}}}})");
}
std::string const nothing = R"({"gameServerName":"","ports":[],"address":"","addresses":[],"nodeName":"","source":"","counters":{},"lists":{}})";
}  // namespace

TEST_CASE("an allocated server's answer prints every field, 64-bit integers in quotes") {
  CHECK(allocation_to_rest_response(allocated()) == answer);
}

TEST_CASE("unset fields print empty, and absent metadata not at all") {
  CHECK(allocation_to_rest_response(allocation_of(R"({"status":{"state":"Allocated"}})")) == nothing);
  CHECK(allocation_to_rest_response(allocation_of(R"({"status":{"state":"Allocated","metadata":{},"lists":{"l":{"values":null}}}})")) ==
        R"({"gameServerName":"","ports":[],"address":"","addresses":[],"nodeName":"","source":"","metadata":{"labels":{},"annotations":{}},"counters":{},"lists":{"l":{"values":[],"capacity":"0"}}})");
}

TEST_CASE("any other state answers the empty response") {
  auto gsa = allocated();
  gsa.status.state = "UnAllocated";
  CHECK(allocation_to_rest_response(gsa) == nothing);
}

TEST_CASE("with CountsAndLists off an answer carries neither") {
  auto const value = parsed(allocation_to_rest_response(allocated(), {.counts_and_lists = false}));
  CHECK(value.at("counters").as_object().empty());
  CHECK(value.at("lists").as_object().empty());
}

TEST_CASE("a remote answer is read as allocated from the endpoint that gave it") {
  auto const gsa = rest_response_to_allocation(parsed(answer), "10.2.3.4:443").value();
  auto wanted = allocated();
  wanted.kind = "GameServerAllocation";
  wanted.api_version = "allocation.agones.dev/v1";
  wanted.status.source = "10.2.3.4:443";
  CHECK(gsa == wanted);
  CHECK(gsa.meta == object_meta{});
}

TEST_CASE("wrapped integers of a remote answer may be null or plain") {
  auto const gsa = rest_response_to_allocation(parsed(R"({"counters":{"a":{"count":null,"capacity":7}},"ports":[{"port":"8"}]})"), "e").value();
  CHECK(gsa.status.counters.at("a") == counter_status{0, 7});
  CHECK(gsa.status.ports.at(0).port == 8);
  CHECK_FALSE(gsa.status.metadata.has_value());
}

TEST_CASE("a remote answer that is no AllocationResponse is refused with its path") {
  auto const error = [](std::string_view text) { return error_of(rest_response_to_allocation(parsed(text), "e")); };
  CHECK(error("[]") == "expected an object, got an array");
  CHECK(error(R"({"ports":[{"port":99999999999}]})") == "ports[0].port: expected a 32-bit integer, 99999999999 is out of range");
  CHECK(error(R"({"ports":[null]})") == "ports[0]: expected an object, got null");
  CHECK(error(R"({"counters":{"c":{"count":"many"}}})") == "counters[c].count: expected a 64-bit integer, got \"many\"");
}
