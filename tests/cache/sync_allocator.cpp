#include "../support/reports.hpp"
#include "../support/servers.hpp"

#include <agones_alloc/cache/sync_allocator.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace test_support;

namespace {
struct sync_fixture {
  ready_cache cache;
  scripted_random random;
  sync_allocator alloc{cache, random};
  std::chrono::sys_time<std::chrono::nanoseconds> now{std::chrono::seconds{1'700'000'000}};
  claimed_server got;

  void add(std::string_view name) { cache.store(share(make_server(name))); }
};
}  // namespace

TEST_CASE_FIXTURE(sync_fixture, "a claimed server carries the request applied to it") {
  add("a");
  REQUIRE(alloc.claim(*fleet_request(), now, got) == sync_outcome::claimed);
  CHECK(got.claim.server->status.state == game_server_state::ready);
  CHECK(got.desired->status.state == game_server_state::allocated);
  CHECK(got.desired->meta.annotations.value_or_empty(keys::last_allocated_annotation) == "2023-11-14T22:13:20Z");
  CHECK(alloc.claim(*fleet_request(), now, got) == sync_outcome::contention);
}

TEST_CASE_FIXTURE(sync_fixture, "without another store what was committed counts") {
  add("a");
  REQUIRE(alloc.claim(*fleet_request(), now, got) == sync_outcome::claimed);
  alloc.commit(got);
  CHECK(cache.find(key("a"))->status.state == game_server_state::allocated);
  CHECK(alloc.claim(*fleet_request(), now, got) == sync_outcome::exhausted);
}

TEST_CASE_FIXTURE(sync_fixture, "what is put back is handed out again, what conflicted only when it is fresh") {
  add("a");
  REQUIRE(alloc.claim(*fleet_request(), now, got) == sync_outcome::claimed);
  alloc.put_back(got);
  REQUIRE(alloc.claim(*fleet_request(), now, got) == sync_outcome::claimed);
  alloc.conflict(got);
  CHECK(alloc.claim(*fleet_request(), now, got) != sync_outcome::claimed);
  auto fresh = make_server("a");
  fresh.meta.resource_version = "2";
  cache.store(share(fresh));
  REQUIRE(alloc.claim(*fleet_request(), now, got) == sync_outcome::claimed);
  CHECK(got.claim.server->meta.resource_version == "2");
  alloc.remove(got);
  CHECK(cache.size() == 0);
}

TEST_CASE_FIXTURE(sync_fixture, "many servers are handed out one by one, each once") {
  for (int i = 0; i < 5000; ++i) add("gs-" + std::to_string(10000 + i));
  auto const request = fleet_request();
  std::string last;
  for (int i = 0; i < 5000; ++i) {
    REQUIRE(alloc.claim(*request, now, got) == sync_outcome::claimed);
    REQUIRE(got.desired->meta.name.view() > last);
    last = got.desired->meta.name.str();
    alloc.commit(got);
  }
  CHECK(alloc.claim(*request, now, got) == sync_outcome::exhausted);
  CHECK(alloc.explain(*request).selectors.size() == 1);
}
