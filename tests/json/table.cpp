// Rows of a Table, as `kubectl get` prints them.
#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/json/table.hpp>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <string>

using namespace agones_alloc;

namespace {

auto const created = timestamp{std::chrono::seconds{1'800'000'000}};

template <class Object>
auto row(Object const& object, row_object what = row_object::none, std::chrono::seconds age = std::chrono::seconds{5}) -> boost::json::object {
  std::string out;
  append_row(out, object, what, created + age);
  return parse_json(out).value().as_object();
}

auto text(boost::json::value const& value) -> std::string { return boost::json::serialize(value); }

auto some_server() -> game_server {
  game_server out;
  out.meta.name = "simple-abcde";
  out.meta.namespace_ = "games";
  out.meta.labels = {{"mode", "duel"}};
  out.meta.creation_timestamp = created;
  out.spec = R"({"container":"game"})";
  out.status.state = game_server_state::ready;
  out.status.address = "10.0.0.1";
  out.status.ports = {{"default", 7001}, {"query", 7002}};
  out.status.node_name = "node-1";
  return out;
}

}  // namespace

TEST_CASE("a game server's row has Agones' columns") {
  CHECK(text(row(some_server())) == R"({"cells":["simple-abcde","Ready","10.0.0.1",7001,"node-1","5s"]})");
  game_server young;
  young.meta.name = "young";
  young.status.state = game_server_state::starting;
  CHECK(text(row(young)) == R"({"cells":["young","Starting","",null,"","<unknown>"]})");
  CHECK(game_server_columns().size() == 6);
}

TEST_CASE("a fleet's row has Agones' columns") {
  fleet one;
  one.meta.name = "simple";
  one.meta.creation_timestamp = created;
  one.replicas = 5;
  one.status.replicas = 4;
  one.status.allocated_replicas = 1;
  one.status.ready_replicas = 3;
  CHECK(text(row(one)) == R"({"cells":["simple","Packed",5,4,1,3,"5s"]})");
  one.scheduling = "Distributed";
  CHECK(row(one).at("cells").at(1).as_string() == "Distributed");
  CHECK(fleet_columns().size() == 7);
}

TEST_CASE("a row carries of its object what was asked for") {
  auto const server = some_server();
  CHECK_FALSE(row(server, row_object::none).contains("object"));
  auto const part = row(server, row_object::metadata).at("object").as_object();
  CHECK(part.at("kind").as_string() == "PartialObjectMetadata");
  CHECK(part.at("apiVersion").as_string() == "meta.k8s.io/v1");
  CHECK(part.at("metadata").at("labels").at("mode").as_string() == "duel");
  CHECK_FALSE(part.contains("status"));
  auto const whole = row(server, row_object::whole).at("object").as_object();
  CHECK(whole.at("kind").as_string() == "GameServer");
  CHECK(whole.at("spec").at("container").as_string() == "game");
  CHECK(whole.at("status").at("state").as_string() == "Ready");
}

TEST_CASE("there is a cell for each column, and only the first is the name") {
  for (auto const columns : {game_server_columns(), fleet_columns()}) {
    std::string out;
    append_columns(out, columns);
    auto const parsed = parse_json(out).value().as_array();
    REQUIRE(parsed.size() == columns.size());
    CHECK(parsed[0].at("format").as_string() == "name");
    for (auto const& column : parsed) CHECK(column.at("priority").as_int64() == 0);
    for (std::size_t i = 1; i < parsed.size(); ++i) CHECK(parsed[i].at("format").as_string().empty());
  }
}

TEST_CASE("ages get coarser as they grow") {
  using namespace std::chrono_literals;
  CHECK(age_text(-2s) == "<invalid>");
  CHECK(age_text(-1s) == "0s");
  CHECK(age_text(0s) == "0s");
  CHECK(age_text(119s) == "119s");
  CHECK(age_text(120s) == "2m");
  CHECK(age_text(200s) == "3m20s");
  CHECK(age_text(10min) == "10m");
  CHECK(age_text(179min + 59s) == "179m");
  CHECK(age_text(3h) == "3h");
  CHECK(age_text(5h + 3min) == "5h3m");
  CHECK(age_text(8h + 30min) == "8h");
  CHECK(age_text(47h) == "47h");
  CHECK(age_text(48h) == "2d");
  CHECK(age_text(52h) == "2d4h");
  CHECK(age_text(24h * 30) == "30d");
  CHECK(age_text(24h * 365 * 2) == "2y");
  CHECK(age_text(24h * (365 * 2 + 10)) == "2y10d");
  CHECK(age_text(24h * 365 * 9) == "9y");
}
