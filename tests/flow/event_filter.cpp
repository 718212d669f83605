#include "event_objects.hpp"

#include <agones_alloc/flow/event_filter.hpp>
#include <agones_alloc/select/selector_text.hpp>

#include <doctest/doctest.h>

using namespace event_test;

namespace {

auto types(std::string_view text) -> event_filter {
  auto parsed = parse_event_types(text);
  REQUIRE(std::holds_alternative<std::uint32_t>(parsed));
  return {std::get<std::uint32_t>(parsed), {}, {}};
}

auto labels(std::string_view text) -> event_filter {
  auto parsed = parse_label_selector(text);
  REQUIRE_MESSAGE(std::holds_alternative<label_selector>(parsed), text);
  event_filter out;
  CHECK_FALSE(compile_labels(std::get<label_selector>(parsed), out.labels));
  return out;
}

auto labelled(std::string_view key, std::string_view value) -> object_event {
  auto out = event_about("a");
  auto changed = *out.server;
  changed.meta.labels.set(key, value);
  out.server = std::make_shared<game_server const>(std::move(changed));
  return out;
}

auto about_fleet(object_change what) -> object_event {
  object_event out;
  out.what = what;
  out.fleet_object = std::make_shared<fleet const>();
  return out;
}

}  // namespace

TEST_CASE("a filter that says nothing wants everything") {
  CHECK(wants({}, event_about("a")));
  CHECK(wants({}, about_fleet(object_change::added)));
  CHECK(wants_any_of({}, object_kind::fleet));
}

TEST_CASE("types of events are wanted by kind, by change and by both") {
  auto const sessions = types("gameserver.allocated,gameserver.released");
  CHECK(wants(sessions, event_about("a", object_change::allocated)));
  CHECK(wants(sessions, event_about("a", object_change::released)));
  CHECK_FALSE(wants(sessions, event_about("a", object_change::updated)));
  CHECK_FALSE(wants_any_of(sessions, object_kind::fleet));
  CHECK(wants(types("fleet"), about_fleet(object_change::updated)));
  CHECK_FALSE(wants(types("fleet"), event_about("a")));
  CHECK(wants(types("*.deleted"), event_about("a", object_change::deleted)));
  CHECK(wants(types("*.deleted"), about_fleet(object_change::deleted)));
  CHECK_FALSE(wants(types("gameserver.*"), about_fleet(object_change::deleted)));
}

TEST_CASE("a type that no event has is refused by name") {
  for (auto const* text : {"", "gameserver.", "gameservers", "fleet.allocated", "gameserver.added,,", "pod.added"}) {
    auto const parsed = parse_event_types(text);
    REQUIRE_MESSAGE(std::holds_alternative<std::string>(parsed), text);
  }
}

TEST_CASE("labels are wanted in kubectl's notation") {
  auto const eu = labelled("region", "eu");
  CHECK(wants(labels("region=eu"), eu));
  CHECK(wants(labels("region==eu"), eu));
  CHECK(wants(labels("agones.dev/fleet=arena , region in (us, eu)"), eu));
  CHECK(wants(labels("region,!gpu,region!=us"), eu));
  CHECK(wants(labels("gpu notin (a,b)"), eu));
  CHECK_FALSE(wants(labels("region notin (eu)"), eu));
  CHECK_FALSE(wants(labels("region!=eu"), eu));
  CHECK_FALSE(wants(labels("gpu"), eu));
  CHECK_FALSE(wants(labels("region=eu,gpu=1"), eu));
}

TEST_CASE("a label selector that cannot be read says why") {
  for (auto const* text : {"a=b,", "=x", "a b=c", "region in (eu", "a=b c", "region in ()x"}) {
    CHECK_MESSAGE(std::holds_alternative<std::string>(parse_label_selector(text)), text);
  }
}

TEST_CASE("namespaces are wanted by name") {
  event_filter filter;
  filter.namespaces = {"games", "default"};
  CHECK(wants(filter, event_about("a")));
  filter.namespaces = {"games"};
  CHECK_FALSE(wants(filter, event_about("a")));
}
