#include "random_server.hpp"
#include "reading.hpp"

#include <agones_alloc/json/merge_patch.hpp>
#include <agones_alloc/json/write.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace agones_alloc;
using json_tests::game_server_of;
using json_tests::parsed;

namespace {

/// RFC 7386, section 2.
void apply_merge_patch(boost::json::value& target, boost::json::value const& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = boost::json::object{};
  for (auto const& member : patch.get_object()) {
    if (member.value().is_null()) {
      target.get_object().erase(member.key());
    } else {
      apply_merge_patch(target.get_object()[member.key()], member.value());
    }
  }
}

auto patched(game_server const& base, game_server const& desired) -> boost::json::value {
  auto out = parsed(to_json(base));
  apply_merge_patch(out, parsed(merge_patch(base, desired)));
  return out;
}

}  // namespace

TEST_CASE("an allocation's patch carries only what changed, and what makes it conditional") {
  auto const base = game_server_of(R"({"metadata":{"name":"x","uid":"u","resourceVersion":"7","labels":{"a":"1","gone":"1"}},
    "spec":{"big":true},"status":{"state":"Ready","address":"1.2.3.4","counters":{"c":{"count":1,"capacity":2},"d":{}}}})");
  auto desired = base;
  desired.status.state = game_server_state::allocated;
  desired.status.counters.at("c").count = 2;
  desired.meta.labels = {{"a", "1"}, {"b", "2"}};
  desired.meta.annotations = {{"agones.dev/last-allocated", "now"}};
  CHECK(merge_patch(base, desired) ==
        R"({"metadata":{"uid":"u","resourceVersion":"7","labels":{"gone":null,"b":"2"},"annotations":{"agones.dev/last-allocated":"now"}},"status":{"state":"Allocated","counters":{"c":{"count":2,"capacity":2}}}})");
}

TEST_CASE("no difference leaves only the condition") {
  auto const base = game_server_of(R"({"metadata":{"uid":"u","resourceVersion":"7"},"status":{"state":"Ready"}})");
  CHECK(merge_patch(base, base) == R"({"metadata":{"uid":"u","resourceVersion":"7"}})");
  CHECK(merge_patch(game_server{}, game_server{}) == R"({"metadata":{}})");
}

TEST_CASE("a field that becomes empty is removed") {
  auto const base = game_server_of(R"({"metadata":{"labels":{"a":"1"}},"status":{"reservedUntil":"2026-01-01T00:00:00Z",
    "players":{},"counters":{"c":{}},"ports":[{"port":1}],"eviction":{"safe":"Never"}}})");
  CHECK(merge_patch(base, game_server{}) ==
        R"({"metadata":{"labels":null},"status":{"ports":null,"reservedUntil":null,"players":null,"counters":null,"eviction":null}})");
}

TEST_CASE("what this library does not know survives a patch") {
  auto const text = R"({"metadata":{"name":"x","labels":{"a":"1"},"clusterName":"c"},"spec":{"new":{"x":1}},
    "status":{"state":"Ready","immutableReplicas":1,"future":[1]}})";
  auto const base = game_server_of(text);
  auto desired = base;
  desired.status.state = game_server_state::allocated;
  auto stored = parsed(text);
  apply_merge_patch(stored, parsed(merge_patch(base, desired)));
  CHECK(stored.at("status").at("future") == boost::json::array{1});
  CHECK(stored.at("status").at("immutableReplicas") == 1);
  CHECK(stored.at("metadata").at("clusterName") == "c");
  CHECK(stored.at("status").at("state") == "Allocated");
}

TEST_CASE("applying the patch to the base's JSON gives the desired server, over many random pairs") {
  json_tests::random_server random{20261129};
  for (int i = 0; i < 3000; ++i) {
    auto const base = random.make();
    auto desired = random.below(4) == 0 ? base : random.make();
    if (random.below(2) == 0) desired.status.counters = base.status.counters;
    CAPTURE(i);
    CAPTURE(to_json(base));
    CAPTURE(to_json(desired));
    auto const read = read_game_server(patched(base, desired));
    REQUIRE(read.has_value());
    REQUIRE(*read == desired);
  }
}
