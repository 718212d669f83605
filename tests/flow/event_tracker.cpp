#include "event_objects.hpp"

#include <agones_alloc/flow/event_tracker.hpp>

#include <doctest/doctest.h>

using namespace event_test;
using state = game_server_state;

namespace {

struct tracking {
  event_tracker known;
  std::vector<object_event> out;

  auto store(game_server_ptr const& server) -> lines {
    out.clear();
    known.stored(server, noon, out);
    return words(out);
  }
  auto erase(std::string_view name, std::string_view uid = {}, game_server_ptr const& last = nullptr) -> lines {
    out.clear();
    known.erased({"default", name}, uid, last, noon, out);
    return words(out);
  }
  auto list(std::vector<game_server_ptr> const& all) -> lines {
    out.clear();
    known.replaced(all, noon, out);
    return words(out);
  }
  auto fleets(std::vector<fleet> const& all, object_event::wall_time now = noon) -> lines {
    out.clear();
    known.fleets(all, now, out);
    return words(out);
  }
};

auto fleet_of(std::string_view name, std::int32_t ready, std::string_view version = {}) -> fleet {
  fleet out;
  out.meta.name = name;
  out.meta.namespace_ = "default";
  out.meta.uid = std::string{name} + "-uid";
  out.meta.resource_version = version;
  out.status.ready_replicas = ready;
  return out;
}

}  // namespace

TEST_CASE_FIXTURE(tracking, "the first value of a server is added, later ones are updates, older and equal ones nothing") {
  CHECK(store(server_at("a", "5", state::creating)) == lines{"added a@5"});
  CHECK_FALSE(out.front().before);
  CHECK(store(server_at("a", "6")) == lines{"updated a@6"});
  CHECK(out.front().before == state::creating);
  CHECK(store(server_at("a", "6")).empty());
  CHECK(store(server_at("a", "4", state::allocated)).empty());
  CHECK(store(server_at("a", "10")) == lines{"updated a@10"});
}

TEST_CASE_FIXTURE(tracking, "becoming Allocated is allocated, and being it no more is released") {
  store(server_at("a", "1"));
  CHECK(store(server_at("a", "2", state::allocated, "t1")) == lines{"allocated a@2"});
  CHECK(store(server_at("a", "3", state::allocated, "t1")) == lines{"updated a@3"});
  CHECK(store(server_at("a", "4", state::allocated, "t2")) == lines{"allocated a@4"});
  CHECK(store(server_at("a", "5", state::ready, "t2")) == lines{"released a@5"});
  CHECK(out.front().before == state::allocated);
  store(server_at("a", "6", state::allocated, "t3"));
  CHECK(store(server_at("a", "7", state::shutdown, "t3")) == lines{"released a@7"});
  CHECK(erase("a", "a-uid") == lines{"deleted a@7"});
}

TEST_CASE_FIXTURE(tracking, "an allocated server that is deleted is released first") {
  store(server_at("a", "1"));
  store(server_at("a", "2", state::allocated));
  CHECK(erase("a", "a-uid", server_at("a", "3", state::allocated)) == lines{"released a@3", "deleted a@3"});
  CHECK(known.servers() == 0);
}

TEST_CASE_FIXTURE(tracking, "a deletion with nothing but a key tells the last value known") {
  store(server_at("a", "1"));
  CHECK(erase("a", "", server_at("a", "", state::unset)) == lines{"deleted a@1"});
  CHECK(erase("a").empty());
}

TEST_CASE_FIXTURE(tracking, "the deletion of an earlier server of the name is nothing") {
  store(server_at("a", "1", state::ready, "", "new"));
  CHECK(erase("a", "old").empty());
  CHECK(known.servers() == 1);
}

TEST_CASE_FIXTURE(tracking, "another UID under a name is another server") {
  list({});
  store(server_at("a", "8", state::allocated, "", "one"));
  CHECK(store(server_at("a", "9", state::allocated, "", "two")) ==
        lines{"released a@8", "deleted a@8", "added a@9", "allocated a@9"});
}

TEST_CASE_FIXTURE(tracking, "allocations before the first list are no news, those between lists are") {
  CHECK(list({server_at("a", "1"), server_at("b", "2", state::allocated)}) == lines{"added a@1", "added b@2"});
  CHECK(list({server_at("a", "1"), server_at("b", "2", state::allocated)}).empty());
  CHECK(list({server_at("a", "5", state::allocated), server_at("c", "6", state::allocated)}) ==
        lines{"allocated a@5", "added c@6", "allocated c@6", "released b@2", "deleted b@2"});
  CHECK(known.servers() == 2);
}

TEST_CASE_FIXTURE(tracking, "fleets are told when they differ, with the time in place of a missing version") {
  CHECK(fleets({fleet_of("x", 1, "7"), fleet_of("y", 1)}) ==
        lines{"added x@7", "added y@1600000000000000000"});
  CHECK(fleets({fleet_of("x", 1, "7"), fleet_of("y", 1)}).empty());
  CHECK(fleets({fleet_of("x", 1, "8"), fleet_of("y", 2)}, noon + std::chrono::nanoseconds{5}) ==
        lines{"updated x@8", "updated y@1600000000000000005"});
  CHECK(fleets({fleet_of("y", 2)}) == lines{"deleted x@8"});
  auto other = fleet_of("y", 2, "9");
  other.meta.uid = "other";
  CHECK(fleets({other}) == lines{"deleted y@1600000000000000000", "added y@9"});
}
