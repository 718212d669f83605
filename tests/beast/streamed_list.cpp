#include "source_fixture.hpp"

#include <string>

using namespace beast_tests;
using namespace std::chrono_literals;

namespace {

struct streaming_fixture : source_fixture {
  streaming_fixture() {
    options.stream_list = true;
    make();
  }
};

auto end_of_list(std::string_view version) -> std::string {
  return event_text("BOOKMARK", R"({"kind":"GameServer","metadata":{"resourceVersion":")" + std::string{version} +
                                    R"(","annotations":{"k8s.io/initial-events-end":"true"}}})");
}

}  // namespace

TEST_CASE_FIXTURE(streaming_fixture, "a streamed list is complete with its bookmark, from whose version a watch begins") {
  list();
  CHECK(client.request(0).target ==
        "/apis/agones.dev/v1/gameservers?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        "&allowWatchBookmarks=true");
  auto const stream = open();
  auto const text = event_text("ADDED", object_text("b", "3")) + event_text("ADDED", object_text("a", "4"));
  stream->send(text.substr(0, 40));
  stream->send(text.substr(40));
  run();
  CHECK_FALSE(ec);
  stream->send(bookmark("5"));  // an ordinary one
  run();
  CHECK_FALSE(ec);
  stream->send(end_of_list("7"));
  run();
  REQUIRE(ec);
  CHECK_FALSE(*ec);
  REQUIRE(listed.servers.size() == 2);
  CHECK(listed.resource_version == "7");
  CHECK(stream->gone());
  watch("7");
  CHECK(client.request(1).target.find("resourceVersion=7") != std::string::npos);
}

TEST_CASE_FIXTURE(streaming_fixture, "what changes while a list is streamed counts") {
  list();
  auto const stream = open();
  stream->send(event_text("ADDED", object_text("a", "3")) + event_text("ADDED", object_text("b", "4")) +
               event_text("DELETED", object_text("a", "5")) + event_text("MODIFIED", object_text("b", "6")) +
               end_of_list("6"));
  run();
  REQUIRE(ec);
  REQUIRE(listed.servers.size() == 1);
  CHECK(listed.servers[0]->meta.name == "b");
  CHECK(listed.servers[0]->meta.resource_version == "6");
}

TEST_CASE_FIXTURE(streaming_fixture, "where streamed lists are refused, pages follow, then and from then on") {
  for (int const status : {422, 400}) {
    make();
    list();
    auto const stream = open(status);
    stream->send(failure_text(status, "Invalid"));
    stream->end();
    run();
    CHECK_FALSE(ec);
    CHECK(client.request(client.last()).target == "/apis/agones.dev/v1/gameservers?limit=4");
    answer(200, page_text("10", "", {object_text("a", "3")}));
    REQUIRE(ec);
    CHECK_FALSE(*ec);
    CHECK(listed.servers.size() == 1);
    list();
    CHECK(client.request(client.last()).target == "/apis/agones.dev/v1/gameservers?limit=4");
    answer(200, page_text("11", "", {}));
    CHECK(log.lines.empty());
  }
}

TEST_CASE_FIXTURE(streaming_fixture, "a streamed list that breaks off has failed, and the next one is streamed again") {
  list();
  auto stream = open();
  stream->send(event_text("ADDED", object_text("a", "3")));
  stream->end();
  run();
  REQUIRE(ec);
  CHECK(*ec == errc::unavailable);
  CHECK(listed.servers.empty());
  list();
  stream = open();
  stream->end(errc::malformed);
  run();
  CHECK(*ec == errc::malformed);
  list();
  client.fail(client.last(), errc::unavailable);
  run();
  CHECK(*ec == errc::unavailable);
  list();
  stream = open();
  stream->send(R"({"type":"ADDED","object":7})");
  run();
  CHECK(*ec == errc::malformed);
  list();
  stream = open();
  stream->send(event_text("ERROR", failure_text(410, "Expired")));
  run();
  CHECK(*ec == errc::unavailable);
  CHECK(client.request(client.last()).target.find("sendInitialEvents") != std::string::npos);
}

TEST_CASE_FIXTURE(streaming_fixture, "other refusals of a streamed list are failures, after their Retry-After") {
  list();
  auto stream = open(403);
  stream->send(failure_text(403, "Forbidden"));
  stream->end();
  run();
  CHECK(ec.value() == errc::refused);
  CHECK(log.lines.size() == 1);
  list();
  stream = open(429, 2s);
  stream->end();
  run();
  CHECK_FALSE(ec);
  clock.advance(2s);
  run();
  CHECK(ec.value() == errc::too_many_requests);
}

TEST_CASE_FIXTURE(streaming_fixture, "an object that cannot be read is left out of a streamed list, and logged") {
  list();
  auto const stream = open();
  stream->send(event_text("ADDED", object_text("a", "3")) +
               event_text("ADDED", R"({"kind":"GameServer","metadata":{"name":"b","resourceVersion":"4"},"status":{"state":7}})") +
               end_of_list("5"));
  run();
  REQUIRE(ec);
  CHECK_FALSE(*ec);
  CHECK(listed.servers.size() == 1);
  CHECK(log.lines.size() == 1);
}

TEST_CASE_FIXTURE(streaming_fixture, "a streamed list can be cancelled, before and after its answer has begun") {
  list();
  leave.emit(boost::asio::cancellation_type::terminal);
  run();
  CHECK(ec.value() == errc::cancelled);
  CHECK(client.withdrawn(0));
  list();
  auto const stream = open();
  stream->send(event_text("ADDED", object_text("a", "3")));
  run();
  leave.emit(boost::asio::cancellation_type::terminal);
  run();
  CHECK(ec.value() == errc::cancelled);
  CHECK(stream->gone());
}
