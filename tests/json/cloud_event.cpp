#include <agones_alloc/json/cloud_event.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>

using namespace agones_alloc;

namespace {

auto server() -> game_server {
  game_server out;
  out.meta.name = "arena-1";
  out.meta.namespace_ = "games";
  out.meta.uid = "6f2c";
  out.meta.resource_version = "42";
  out.meta.labels.set(keys::fleet_label, "arena");
  out.status.state = game_server_state::allocated;
  auto extra = std::make_shared<meta_extra>();
  extra->managed_fields = R"([{"manager":"x"}])";
  extra->generate_name = "arena-";
  out.meta.extra = extra;
  return out;
}

auto allocated(game_server one = server()) -> object_event {
  object_event out;
  out.what = object_change::allocated;
  out.revision = one.meta.resource_version;
  out.server = std::make_shared<game_server const>(std::move(one));
  out.before = game_server_state::ready;
  out.at = object_event::wall_time{std::chrono::milliseconds{1'600'000'000'007}};
  return out;
}

auto structured(object_event const& event) -> boost::json::object {
  std::string text;
  append_cloud_event(text, event, "/clusters/eu");
  CHECK(text.find('\n') == std::string::npos);
  return boost::json::parse(text).as_object();
}

}  // namespace

TEST_CASE("a structured event has all attributes and the object as data") {
  auto const event = structured(allocated());
  CHECK(event.at("specversion") == "1.0");
  CHECK(event.at("id") == "6f2c.42.allocated");
  CHECK(event.at("source") == "/clusters/eu");
  CHECK(event.at("type") == "dev.agones-alloc.gameserver.allocated");
  CHECK(event.at("subject") == "games/arena-1");
  CHECK(event.at("time") == "2020-09-13T12:26:40.007Z");
  CHECK(event.at("datacontenttype") == "application/json");
  CHECK(event.at("dataschema") == "https://agones-alloc.dev/schemas/v1/GameServer");
  CHECK(event.at("partitionkey") == "6f2c");
  CHECK(event.at("resourceversion") == "42");
  CHECK(event.at("fleet") == "arena");
  CHECK(event.at("previousstate") == "Ready");
  CHECK_FALSE(event.contains("merged"));
  auto const& data = event.at("data").as_object();
  CHECK(data.at("kind") == "GameServer");
  CHECK(data.at("status").at("state") == "Allocated");
  CHECK_FALSE(data.at("metadata").as_object().contains("managedFields"));
  CHECK(data.at("metadata").at("generateName") == "arena-");
}

TEST_CASE("attribute names are those the specification allows: small letters and digits, at most twenty") {
  auto event = allocated();
  event.merged = 3;
  for (auto const& [name, value] : structured(event)) {
    CHECK(name.size() <= 20);
    for (char const c : std::string{name}) CHECK(((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')));
    CHECK((value.is_string() || name == "merged" || name == "data"));
  }
  CHECK(structured(event).at("merged") == 3);
}

TEST_CASE("an id is one per object, version and change; a deletion has no version") {
  auto event = allocated();
  std::set<std::string> ids;
  for (auto const what : {object_change::added, object_change::updated, object_change::deleted, object_change::allocated,
                          object_change::released}) {
    event.what = what;
    ids.insert(cloud_event_id(event));
  }
  CHECK(ids == std::set<std::string>{"6f2c.42.added", "6f2c.42.updated", "6f2c.deleted", "6f2c.42.allocated",
                                     "6f2c.42.released"});
  auto nameless = server();
  nameless.meta.uid = {};
  CHECK(cloud_event_id(allocated(nameless)) == "games/arena-1.42.allocated");
}

TEST_CASE("a fleet's event says so") {
  auto one = std::make_shared<fleet>();
  one->meta.name = "arena";
  one->meta.namespace_ = "games";
  one->replicas = 3;
  object_event event;
  event.fleet_object = one;
  event.revision = "17";
  auto const told = structured(event);
  CHECK(told.at("type") == "dev.agones-alloc.fleet.updated");
  CHECK(told.at("id") == "games/arena.17.updated");
  CHECK(told.at("dataschema") == "https://agones-alloc.dev/schemas/v1/Fleet");
  CHECK_FALSE(told.contains("fleet"));
  CHECK(told.at("data").at("kind") == "Fleet");
  CHECK(told.at("data").at("spec").at("replicas") == 3);
}

TEST_CASE("a batch is an array of structured events") {
  event_batch batch;
  batch.events = {allocated(), allocated()};
  auto const told = boost::json::parse(cloud_event_batch(batch, "/x")).as_array();
  REQUIRE(told.size() == 2);
  CHECK(told[0] == told[1]);
  CHECK(told[0].at("id") == "6f2c.42.allocated");
}

TEST_CASE("binary mode has the attributes as fields, and nothing in them that a field cannot hold") {
  auto odd = server();
  odd.meta.labels.set(keys::fleet_label, "a b\"%\r\n\xc3\xa9");
  auto const fields = cloud_event_headers(allocated(odd), "/clusters/eu");
  std::set<std::string> names;
  for (auto const& [name, value] : fields) {
    names.insert(name);
    for (char const c : value) CHECK((c > 0x20 && c < 0x7f));
    if (name == "ce-fleet") CHECK(value == "a%20b%22%25%0D%0A%C3%A9");
    if (name == "ce-type") CHECK(value == "dev.agones-alloc.gameserver.allocated");
  }
  for (auto const* name : {"ce-specversion", "ce-id", "ce-source", "ce-type", "ce-subject", "ce-time", "ce-dataschema",
                           "ce-partitionkey", "ce-resourceversion", "ce-previousstate"}) {
    CHECK(names.contains(name));
  }
  CHECK_FALSE(names.contains("ce-datacontenttype"));
  CHECK(boost::json::parse(cloud_event_data(allocated())).at("metadata").at("name") == "arena-1");
}
