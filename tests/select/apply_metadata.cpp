#include "make.hpp"

#include <agones_alloc/select/apply.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;
using namespace std::chrono;

TEST_CASE("labels and annotations are added or overwritten, never removed") {
  auto server = make::labelled(make::server("gs"), {{"keep", "1"}, {"agones.dev/fleet", "red"}});
  server.meta.annotations = {{"note", "old"}};
  auto gsa = make::allocation();
  gsa.spec.metadata.labels = {{"agones.dev/fleet", "blue"}, {"new", ""}};
  gsa.spec.metadata.annotations = {{"note", "new"}, {"map", "dust"}};
  auto const report = apply_allocation(server, gsa.spec, {}, sys_seconds{1s});
  CHECK(report.counter_errors.empty());
  CHECK(report.list_errors.empty());
  CHECK(server.meta.labels == string_map{{"agones.dev/fleet", "blue"}, {"keep", "1"}, {"new", ""}});
  CHECK(server.meta.annotations ==
        string_map{{"agones.dev/last-allocated", "1970-01-01T00:00:01Z"}, {"map", "dust"}, {"note", "new"}});
}

TEST_CASE("last-allocated is ours, whatever the patch says") {
  auto server = make::server("gs");
  auto gsa = make::allocation();
  gsa.spec.metadata.annotations = {{"agones.dev/last-allocated", "never"}};
  apply_allocation(server, gsa.spec, {}, sys_seconds{0s});
  CHECK(server.meta.annotations == string_map{{"agones.dev/last-allocated", "1970-01-01T00:00:00Z"}});
}

TEST_CASE("the state becomes Allocated and nothing else of the server changes") {
  auto server = make::with_counter(make::server("gs"), "rooms", 1, 2);
  server.status.reserved_until = timestamp{7s};
  server.spec = "{}";
  auto expected = server;
  expected.status.state = game_server_state::allocated;
  expected.meta.annotations = {{"agones.dev/last-allocated", "1970-01-01T00:00:00Z"}};
  apply_allocation(server, make::allocation().spec, {}, sys_seconds{0s});
  CHECK(server == expected);
}

TEST_CASE("actions do not run while their gate is off") {
  auto server = make::with_counter(make::server("gs"), "rooms", 1, 2);
  auto gsa = make::allocation();
  gsa.spec.counters.emplace()["rooms"] = {"Increment", 1, std::nullopt};
  gsa.spec.lists.emplace()["nosuch"].capacity = 1;
  auto const report = apply_allocation(server, gsa.spec, {.counts_and_lists = false}, {});
  CHECK(server.status.counters.at("rooms").count == 1);
  CHECK(report.list_errors.empty());
}

TEST_CASE("an allocated server may be allocated again") {
  auto server = make::server("gs", "n", game_server_state::allocated);
  apply_allocation(server, make::allocation().spec, {}, sys_seconds{5s});
  CHECK(server.status.state == game_server_state::allocated);
  CHECK(server.meta.annotations.value_or_empty("agones.dev/last-allocated") == "1970-01-01T00:00:05Z");
}

TEST_CASE("times have as many fraction digits as they need, up to nine") {
  sys_time<nanoseconds> const base{sys_days{2026y / 11 / 29} + 9h + 8min + 7s};
  CHECK(rfc3339_nano(base) == "2026-11-29T09:08:07Z");
  CHECK(rfc3339_nano(base + 1ns) == "2026-11-29T09:08:07.000000001Z");
  CHECK(rfc3339_nano(base + 500ms) == "2026-11-29T09:08:07.5Z");
  CHECK(rfc3339_nano(base + 428963225ns) == "2026-11-29T09:08:07.428963225Z");
  CHECK(rfc3339_nano(base + 10us) == "2026-11-29T09:08:07.00001Z");
}

TEST_CASE("times before 1970 and leap days print right") {
  CHECK(rfc3339_nano(sys_time<nanoseconds>{-1ns}) == "1969-12-31T23:59:59.999999999Z");
  CHECK(rfc3339_nano(sys_days{2024y / 2 / 29}) == "2024-02-29T00:00:00Z");
}
