#include "reading.hpp"

#include <agones_alloc/json/fleet_info.hpp>
#include <agones_alloc/json/parse.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace agones_alloc;

namespace {

auto sample() -> fleet_info {
  fleet_info out;
  out.cluster = "east";
  out.namespace_ = "default";
  out.name = "arena";
  out.uid = "u";
  out.resource_version = "7";
  out.generation = 2;
  out.labels = {{"tier", "gold"}};
  out.annotations = {{"note", "x"}};
  out.scheduling = "Packed";
  out.desired = 4;
  out.status.emplace();
  out.status->replicas = 4;
  out.status->ready_replicas = 3;
  out.status->allocated_replicas = 1;
  out.status->counters["rooms"] = {1, 2, 3, 4};
  out.recount.emplace();
  out.recount->total = 4;
  out.recount->shutting_down = 1;
  out.recount->states[static_cast<std::size_t>(game_server_state::ready)] = 2;
  out.recount->states[static_cast<std::size_t>(game_server_state::allocated)] = 2;
  out.recount->counters["rooms"] = {1, 2, 3, 4, 5};
  out.recount->nodes = {{"node-1", 4, 2, 2}};
  out.observed = fleet_info::wall_time{std::chrono::seconds{1'600'000'000} + std::chrono::milliseconds{45}};
  return out;
}

}  // namespace

TEST_CASE("a fleet's row has the Fleet's own numbers at its top and those of its servers apart") {
  std::string out;
  append_json(out, sample());
  CHECK(out ==
        R"({"clusterName":"east","namespace":"default","fleetName":"arena","uid":"u","resourceVersion":"7","generation":2,)"
        R"("labels":{"tier":"gold"},"scheduling":"Packed","desiredGameservers":4,"totalGameservers":4,"readyGameservers":3,)"
        R"("reservedGameservers":0,"allocatedGameservers":1,"counters":{"rooms":{"allocatedCount":1,"allocatedCapacity":2,)"
        R"("count":3,"capacity":4}},"recount":{"totalGameservers":4,"readyGameservers":2,"reservedGameservers":0,)"
        R"("allocatedGameservers":2,"allocatingGameservers":0,"shuttingDownGameservers":1,"states":{"Ready":2,"Allocated":2},)"
        R"("counters":{"rooms":{"allocatedCount":1,"allocatedCapacity":2,"count":3,"capacity":4,"free":5}},"nodeCount":1},)"
        R"("observedTime":"2020-09-13T12:26:40.045Z","stale":false})");
}

TEST_CASE("a row that was written with all its parts is read as it was, to the second") {
  auto row = sample();
  row.observed = std::chrono::floor<std::chrono::seconds>(row.observed);
  std::string out;
  append_json(out, row, {true, true});
  auto const read = read_fleet_info(parse_json(out).value());
  REQUIRE(read.has_value());
  CHECK(read->labels == row.labels);
  CHECK(read->annotations == row.annotations);
  CHECK(read->status == row.status);
  CHECK(read->recount == row.recount);
  CHECK(read->desired == row.desired);
  CHECK(read->observed == row.observed);
  CHECK(read->name == row.name);
  CHECK(read->cluster == row.cluster);
}

TEST_CASE("a row without numbers has none, unknown fields are skipped, and the name is needed") {
  auto const bare = read_fleet_info(parse_json(R"({"fleetName":"a","nosuch":{"x":1}})").value());
  REQUIRE(bare.has_value());
  CHECK_FALSE(bare->status);
  CHECK_FALSE(bare->recount);
  auto const nameless = read_fleet_info(parse_json("{}").value());
  REQUIRE_FALSE(nameless.has_value());
  CHECK(nameless.error().field == "fleetName");
  auto const wrong = read_fleet_info(parse_json(R"({"fleetName":"a","desiredGameservers":"4"})").value());
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().field == "desiredGameservers");
}
