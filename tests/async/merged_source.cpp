#include "../support/scripted_source.hpp"
#include "../support/servers.hpp"
#include "../support/source_probe.hpp"

#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/merged_source.hpp>

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace test_support;

namespace {

auto added(std::string_view name) -> server_event { return {server_event::kind::added, share(make_server(name))}; }

struct merged_fixture : source_probe {
  scripted_source a;
  scripted_source b;

  merged_fixture() {
    source = std::make_unique<merged_source>(context.get_executor(), std::vector<server_source*>{&a, &b});
  }
  ~merged_fixture() { source.reset(); }
};

}  // namespace

TEST_CASE("joined versions come apart as they were, and other texts do not") {
  for (auto const& versions : {std::vector<std::string>{"1"}, {"", ""}, {"5:a,1", "12", ""}}) {
    CHECK(split_versions(join_versions(versions)) == versions);
  }
  for (auto const* text : {"", "1", "2:a", "1:a,", "1:ab", "-1:a", "x", "1:a;1:b", "99999999999999999999:a"}) {
    CAPTURE(text);
    CHECK_FALSE(split_versions(text));
  }
}

TEST_CASE_FIXTURE(merged_fixture, "a list is complete when every source's is") {
  list();
  b.give_list({}, "20", {share(make_server("y"))});
  run();
  CHECK_FALSE(ec);
  a.give_list({}, "10", {share(make_server("x")), share(make_server("z"))});
  run();
  REQUIRE(ec);
  CHECK_FALSE(*ec);
  REQUIRE(listed.servers.size() == 3);
  CHECK(listed.servers[0]->meta.name == "x");
  CHECK(listed.servers[2]->meta.name == "y");
  CHECK(listed.resource_version == "2:10,2:20");
}

TEST_CASE_FIXTURE(merged_fixture, "a list fails with the first that fails, and gives the others up") {
  list();
  b.give_list(errc::refused, "");
  run();
  REQUIRE(ec);
  CHECK(*ec == errc::refused);
  CHECK(a.withdrawn == 1);
  CHECK(listed.servers.empty());
  list();
  CHECK(a.listing);
  CHECK(b.listing);
}

TEST_CASE_FIXTURE(merged_fixture, "a watch ends with the first events, and the other source goes on waiting") {
  watch("2:10,2:20");
  CHECK(a.watched_from.front() == "10");
  CHECK(b.watched_from.front() == "20");
  a.give_events({}, "11", {added("x")});
  run();
  REQUIRE(ec);
  CHECK_FALSE(*ec);
  CHECK(heard.events.size() == 1);
  CHECK(heard.resource_version == "2:11,2:20");
  // What comes while nobody waits is kept for the next.
  b.give_events({}, "25", {added("y")});
  run();
  watch("2:11,2:20");
  REQUIRE(ec);
  CHECK(heard.events.size() == 1);
  CHECK(heard.resource_version == "2:11,2:25");
  CHECK(a.watched_from.back() == "11");
  CHECK(b.watched_from.size() == 1);
  watch("2:11,2:25");
  CHECK_FALSE(ec);
  CHECK(a.watched_from.size() == 2);
  CHECK(b.watched_from.back() == "25");
}

TEST_CASE_FIXTURE(merged_fixture, "events go before an error, and too old before any other error") {
  watch("2:10,2:20");
  a.give_events({}, "11", {added("x")});
  run();
  b.give_events(errc::too_old, "");
  run();
  watch("2:11,2:20");
  REQUIRE(ec);
  CHECK(*ec == errc::too_old);
  watch("2:11,2:20");
  CHECK_FALSE(ec);
  CHECK(b.watched_from.size() == 2);
  leave.emit(boost::asio::cancellation_type::terminal);
  run();
  a.give_events(errc::unavailable, "");
  b.give_events(errc::too_old, "");
  run();
  watch("2:11,2:20");
  REQUIRE(ec);
  CHECK(*ec == errc::too_old);
}

TEST_CASE_FIXTURE(merged_fixture, "an answer without events only moves its source on") {
  watch("2:10,2:20");
  a.give_events({}, "15");
  run();
  CHECK_FALSE(ec);
  CHECK(a.watched_from.back() == "15");
  b.give_events({}, "21", {added("y")});
  run();
  REQUIRE(ec);
  CHECK(heard.resource_version == "2:15,2:21");
}

TEST_CASE_FIXTURE(merged_fixture, "what is told while a source fails is not whole, and that all are heard again is told by itself") {
  watch("2:10,2:20");
  b.give_events(errc::unavailable, "");
  run();
  REQUIRE(ec);
  CHECK(*ec == errc::unavailable);
  watch("2:10,2:20");
  a.give_events({}, "11", {added("x")});
  run();
  REQUIRE(ec);
  CHECK(heard.events.size() == 1);
  CHECK_FALSE(heard.whole);
  watch("2:11,2:20");
  a.give_events({}, "12");  // that one has always been heard
  run();
  CHECK_FALSE(ec);
  b.give_events({}, "20");
  run();
  REQUIRE(ec);
  CHECK_FALSE(*ec);
  CHECK(heard.events.empty());
  CHECK(heard.whole);
  CHECK(heard.resource_version == "2:12,2:20");
  watch("2:12,2:20");
  b.give_events({}, "21");
  run();
  CHECK_FALSE(ec);
}

TEST_CASE_FIXTURE(merged_fixture, "a version of other sources is too old") {
  watch("2:10");
  REQUIRE(ec);
  CHECK(*ec == errc::too_old);
  watch("whatever");
  CHECK(*ec == errc::too_old);
}

TEST_CASE_FIXTURE(merged_fixture, "cancelling ends the call, and another one is refused while it waits") {
  SUBCASE("of a list") { list(); }
  SUBCASE("of a watch") { watch("2:10,2:20"); }
  std::optional<error_code> second;
  source->async_list([&](error_code e, server_list) { second = e; });
  run();
  REQUIRE(second);
  CHECK(*second == errc::invalid_request);
  leave.emit(boost::asio::cancellation_type::terminal);
  run();
  REQUIRE(ec);
  CHECK(*ec == condition::cancelled);
  watch("2:12,2:22");
  CHECK(a.watched_from.back() == "12");
  source.reset();
  run();
  REQUIRE(ec);
  CHECK(*ec == condition::cancelled);
  CHECK(a.withdrawn + b.withdrawn >= 2);
}

TEST_CASE("a merge needs sources") {
  boost::asio::io_context context;
  CHECK_THROWS_AS(merged_source(context.get_executor(), {}), std::invalid_argument);
  CHECK_THROWS_AS(merged_source(context.get_executor(), {nullptr}), std::invalid_argument);
}
