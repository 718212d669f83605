// The printed shapes of spec section 1, byte for byte.
#include "reading.hpp"

#include <agones_alloc/json/detail/writer.hpp>
#include <agones_alloc/json/write.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace agones_alloc;
using json_tests::allocation_of;

namespace {
auto text_of(std::string_view value) -> std::string {
  return detail::wire::written([value](detail::wire::writer& to) { to.text(value); });
}
}  // namespace

TEST_CASE("the empty allocation prints its fixed members, and always its own type") {
  CHECK(to_json(allocation_of("{}")) ==
        R"({"kind":"GameServerAllocation","apiVersion":"allocation.agones.dev/v1","metadata":{"creationTimestamp":null},"spec":{"multiClusterSetting":{"policySelector":{}},"required":{},"scheduling":"","metadata":{}},"status":{"state":"","gameServerName":"","source":""}})");
}

TEST_CASE("a whole allocation prints in declaration order, present zeros included") {
  std::string const text =
      R"({"kind":"GameServerAllocation","apiVersion":"allocation.agones.dev/v1",)"
      R"("metadata":{"name":"n","generateName":"g","namespace":"ns","selfLink":"s","uid":"u","resourceVersion":"r","generation":1,)"
      R"("creationTimestamp":"2026-11-29T12:43:08Z","deletionTimestamp":"2026-11-29T12:43:09Z","deletionGracePeriodSeconds":0,)"
      R"("labels":{"a":"b"},"annotations":{"c":"d"},"ownerReferences":[{"uid":"o"}],"finalizers":["f"],"managedFields":[{}]},)"
      R"("spec":{"multiClusterSetting":{"enabled":true,"policySelector":{"matchLabels":{"p":"q"}}},)"
      R"("required":{"matchExpressions":[{"key":"","operator":"Exists"}],"gameServerState":"Ready","players":{}},)"
      R"("preferred":[{"players":{"minAvailable":1,"maxAvailable":2}}],)"
      R"("priorities":[{"type":"Counter","key":"rooms","order":""}],)"
      R"("selectors":[{"counters":{"a":{"minCount":0,"maxCount":0,"minAvailable":0,"maxAvailable":9223372036854775807}},)"
      R"("lists":{"b":{"containsValue":"","minAvailable":0,"maxAvailable":0}}}],)"
      R"("scheduling":"Packed","metadata":{"labels":{"x":""}},)"
      R"("counters":{"rooms":{"action":"","amount":0,"capacity":-9223372036854775808},"z":{}},)"
      R"("lists":{"players":{"addValues":["a"],"deleteValues":["b"],"capacity":0}}},)"
      R"("status":{"state":"Allocated","gameServerName":"gs1","ports":[{"name":"default","port":7777},{"port":0}],"address":"1.2.3.4",)"
      R"("addresses":[{"type":"","address":"1.2.3.4"}],"nodeName":"node1","source":"local","metadata":{},)"
      R"("counters":{"rooms":{"count":1,"capacity":5}},)"
      R"("lists":{"players":{"capacity":5,"values":["a"]},"x":{"capacity":0,"values":null},"y":{"capacity":0,"values":[]}}}})";
  CHECK(to_json(allocation_of(text)) == text);
}

TEST_CASE("the answer of the specification is reproduced") {
  std::string const text =
      R"({"kind":"GameServerAllocation","apiVersion":"allocation.agones.dev/v1",)"
      R"("metadata":{"name":"gs1","namespace":"default","creationTimestamp":"2026-11-29T12:43:08Z","labels":{"a":"b"}},)"
      R"("spec":{"multiClusterSetting":{"policySelector":{}},"required":{"gameServerState":"Ready"},)"
      R"("selectors":[{"gameServerState":"Ready"}],"scheduling":"Packed","metadata":{}},)"
      R"("status":{"state":"Allocated","gameServerName":"gs1","ports":[{"name":"default","port":7777}],"address":"1.2.3.4",)"
      R"("addresses":[{"type":"ExternalIP","address":"1.2.3.4"}],"nodeName":"node1","source":"local",)"
      R"("metadata":{"labels":{"agones.dev/fleet":"fleet-1"},"annotations":{"agones.dev/last-allocated":"2026-11-29T12:43:08.429963225Z"}},)"
      R"("counters":{"rooms":{"count":1,"capacity":5}},"lists":{"players":{"capacity":5,"values":["a"]}}}})";
  CHECK(to_json(allocation_of(text)) == text);
}

TEST_CASE("an empty game server prints the nulls of its status") {
  CHECK(to_json(game_server{}) ==
        R"({"kind":"GameServer","apiVersion":"agones.dev/v1","metadata":{"creationTimestamp":null},"status":{"state":"","ports":null,"address":"","addresses":null,"nodeName":"","reservedUntil":null,"players":null}})");
}

TEST_CASE("a whole game server prints in declaration order") {
  std::string const text =
      R"({"kind":"GameServer","apiVersion":"agones.dev/v1","metadata":{"name":"x","creationTimestamp":null},)"
      R"("spec":{"container":"c","more":[1,true,null,"x"]},)"
      R"("status":{"state":"RequestReady","ports":[{"name":"p","port":1}],"address":"a","addresses":[{"type":"t","address":"a"}],)"
      R"("nodeName":"n","reservedUntil":"2026-11-29T12:43:08Z","players":{"count":0,"capacity":0,"ids":[]},)"
      R"("counters":{"c":{"count":1,"capacity":2}},"lists":{"l":{"capacity":1,"values":null}},"eviction":{"safe":"Never"}}})";
  CHECK(to_json(json_tests::game_server_of(text)) == text);
}

TEST_CASE("an empty policy and an empty fleet print their fixed members") {
  CHECK(to_json(game_server_allocation_policy{}) ==
        R"({"kind":"GameServerAllocationPolicy","apiVersion":"multicluster.agones.dev/v1","metadata":{"creationTimestamp":null},"spec":{"priority":0,"weight":0,"connectionInfo":{"clusterName":"","secretName":"","namespace":""}}})");
  CHECK(to_json(fleet{}) ==
        R"({"kind":"Fleet","apiVersion":"agones.dev/v1","metadata":{"creationTimestamp":null},"spec":{"replicas":0,"scheduling":"","template":{"metadata":{},"spec":{}}},"status":{"replicas":0,"readyReplicas":0,"reservedReplicas":0,"allocatedReplicas":0}})");
}

TEST_CASE("writing appends and leaves what is there alone") {
  std::string out = "data: [";
  append_json(out, game_server_allocation_policy{});
  CHECK(out.starts_with("data: [{\"kind\":"));
  CHECK(out.ends_with("}}}"));
}

TEST_CASE("texts are escaped wherever their special bytes stand") {
  using namespace std::string_view_literals;
  CHECK(text_of("") == R"("")");
  CHECK(text_of("\"\\\b\f\n\r\t/") == R"("\"\\\b\f\n\r\t/")");
  CHECK(text_of("\0\x01\x1f\x7f"sv) == "\"\\u0000\\u0001\\u001f\x7f\"");
  for (std::size_t before = 0; before < 20; ++before) {
    for (std::size_t after = 0; after < 20; ++after) {
      std::string const a(before, 'a');
      std::string const b(after, 'b');
      CHECK(text_of(a + "\"" + b) == "\"" + a + "\\\"" + b + "\"");
      CHECK(text_of(a + "\\" + b) == "\"" + a + "\\\\" + b + "\"");
      CHECK(text_of(a + "\x1f" + b) == "\"" + a + "\\u001f" + b + "\"");
      CHECK(text_of(a + "\xc3\xbc" + b) == "\"" + a + "\xc3\xbc" + b + "\"");
      CHECK(text_of(a + "\xff" + b) == "\"" + a + "\xef\xbf\xbd" + b + "\"");
      CHECK(text_of(a + " !#[]~" + b) == "\"" + a + " !#[]~" + b + "\"");
    }
  }
}

TEST_CASE("bytes that are not UTF-8 become replacement characters, one each") {
  std::string const r = "\xef\xbf\xbd";
  CHECK(text_of("\xc0\x80") == "\"" + r + r + "\"");              // overlong NUL
  CHECK(text_of("\xed\xa0\x80") == "\"" + r + r + r + "\"");      // a surrogate
  CHECK(text_of("\xf4\x90\x80\x80") == "\"" + r + r + r + r + "\"");  // past U+10FFFF
  CHECK(text_of("\xe2\x82") == "\"" + r + r + "\"");              // cut short
  CHECK(text_of("\xe2\x82\xac\xf0\x9f\x98\x80") == "\"\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

TEST_CASE("every pair of bytes is written as JSON that reads back") {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      std::string const text{static_cast<char>(first), static_cast<char>(second)};
      auto const value = parse_json(text_of(text));
      REQUIRE(value.has_value());
      if (first < 128 && second < 128) REQUIRE(std::string_view{value->as_string()} == text);
    }
  }
}
