#include "reading.hpp"

#include <agones_alloc/json/response.hpp>
#include <agones_alloc/json/write.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace agones_alloc;
using json_tests::allocation_of;
using json_tests::game_server_of;

namespace {
auto spoofing_request() -> game_server_allocation {
  return allocation_of(R"({"apiVersion":"","metadata":{"name":"asked","namespace":"ns","creationTimestamp":"2026-11-29T12:43:08Z"},
    "spec":{"scheduling":"Packed","selectors":[{"gameServerState":"Ready"}]},
    "status":{"state":"Allocated","gameServerName":"evil","address":"6.6.6.6","source":"evil","addresses":[{"type":"x","address":"6"}]}})");
}
auto allocated() -> allocation_result {
  allocation_result out;
  out.result = outcome::allocated;
  out.server = std::make_shared<game_server const>(game_server_of(R"({"metadata":{"name":"gs1","labels":{"a":"b"}},
    "status":{"state":"Allocated","ports":[{"name":"p","port":1}],"address":"1.2.3.4","addresses":[{"type":"t","address":"1.2.3.4"}],
      "nodeName":"n","counters":{"c":{"count":1,"capacity":2}},"lists":{"l":{"capacity":1,"values":null}}}})"));
  return out;
}
auto written(game_server_allocation const& request, allocation_result const& result, feature_gates gates = {}) -> std::string {
  std::string out;
  append_allocation_response(out, request, result, gates);
  return out;
}
}  // namespace

TEST_CASE("an allocated server is answered from the store's copy, never from the request's status") {
  CHECK(written(spoofing_request(), allocated()) ==
        R"({"kind":"GameServerAllocation","apiVersion":"allocation.agones.dev/v1","metadata":{"name":"gs1","namespace":"ns","creationTimestamp":"2026-11-29T12:43:08Z"},"spec":{"multiClusterSetting":{"policySelector":{}},"required":{},"selectors":[{"gameServerState":"Ready"}],"scheduling":"Packed","metadata":{}},"status":{"state":"Allocated","gameServerName":"gs1","ports":[{"name":"p","port":1}],"address":"1.2.3.4","addresses":[{"type":"t","address":"1.2.3.4"}],"nodeName":"n","source":"local","metadata":{"labels":{"a":"b"}},"counters":{"c":{"count":1,"capacity":2}},"lists":{"l":{"capacity":1,"values":null}}}})");
}

TEST_CASE("the model and the direct form agree for every outcome and gate") {
  for (auto const value : {outcome::allocated, outcome::exhausted, outcome::contention, outcome::invalid, outcome::refused,
                           outcome::unavailable, outcome::unknown, outcome::cancelled, outcome::deadline}) {
    for (bool const counts : {true, false}) {
      auto result = allocated();
      result.result = value;
      result.source = counts ? "" : "10.0.0.1:443";
      feature_gates const gates{.counts_and_lists = counts};
      CAPTURE(to_string(value));
      CHECK(to_json(allocation_response(spoofing_request(), result, gates)) == written(spoofing_request(), result, gates));
    }
  }
}

TEST_CASE("what was not allocated answers its state and nothing else") {
  allocation_result none;
  none.result = outcome::exhausted;
  CHECK(written(spoofing_request(), none).ends_with(R"("status":{"state":"UnAllocated","gameServerName":"","source":""}})"));
  none.result = outcome::contention;
  CHECK(written(spoofing_request(), none).ends_with(R"("status":{"state":"Contention","gameServerName":"","source":""}})"));
  CHECK(written(spoofing_request(), none).find("\"name\":\"asked\"") != std::string::npos);
  CHECK(state_word(outcome::unavailable).empty());
}
