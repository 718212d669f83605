#include "source_fixture.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

using namespace beast_tests;
using namespace std::chrono_literals;

TEST_CASE_FIXTURE(source_fixture, "a list goes page by page and ends with the version a watch begins from") {
  list();
  CHECK(client.request(0).target == "/apis/agones.dev/v1/gameservers?limit=4");
  answer(200, page_text("10", "next/1", {object_text("a", "3"), object_text("b", "4")}));
  CHECK_FALSE(ec);
  CHECK(client.request(1).target == "/apis/agones.dev/v1/gameservers?limit=4&continue=next%2F1");
  answer(200, page_text("10", "", {object_text("c", "5")}));
  REQUIRE(ec);
  CHECK_FALSE(*ec);
  REQUIRE(listed.servers.size() == 3);
  CHECK(listed.servers[2]->meta.name == "c");
  CHECK(listed.resource_version == "10");
}

TEST_CASE_FIXTURE(source_fixture, "one namespace and a label selector are asked for by name") {
  options.ns = "games";
  options.label_selector = "a=b,c!=d";
  make();
  list();
  CHECK(client.request(0).target == "/apis/agones.dev/v1/namespaces/games/gameservers?limit=4&labelSelector=a%3Db%2Cc%21%3Dd");
}

TEST_CASE_FIXTURE(source_fixture, "a list whose version is forgotten half-way begins again without what it had") {
  list();
  answer(200, page_text("10", "token", {object_text("a", "3")}));
  answer(410, failure_text(410, "Expired"));
  CHECK_FALSE(ec);
  CHECK(client.request(2).target == "/apis/agones.dev/v1/gameservers?limit=4");
  answer(200, page_text("20", "", {object_text("b", "12")}));
  REQUIRE(ec);
  CHECK_FALSE(*ec);
  REQUIRE(listed.servers.size() == 1);
  CHECK(listed.servers[0]->meta.name == "b");
}

TEST_CASE_FIXTURE(source_fixture, "a list that is forgotten again and again fails, to be tried later") {
  list();
  for (int i = 0; i < 4; ++i) {
    answer(200, page_text("10", "token", {object_text("a", "3")}));
    answer(410, failure_text(410, "Expired"));
  }
  REQUIRE(ec);
  CHECK(*ec == errc::unavailable);
  CHECK(client.calls() == 8);
}

TEST_CASE_FIXTURE(source_fixture, "pages that are too large become smaller") {
  list();
  client.fail(0, errc::limit_exceeded);
  run();
  CHECK(client.request(1).target == "/apis/agones.dev/v1/gameservers?limit=2");
  client.fail(1, errc::limit_exceeded);
  run();
  client.fail(2, errc::limit_exceeded);
  run();
  REQUIRE(ec);
  CHECK(*ec == errc::limit_exceeded);
}

TEST_CASE_FIXTURE(source_fixture, "a refused list fails after the pause it was told, with a line about it") {
  list();
  answer(429, failure_text(429, "TooManyRequests"), 2s);
  CHECK_FALSE(ec);
  CHECK(clock.next() == clock.now() + 2s);
  clock.advance(2s);
  run();
  REQUIRE(ec);
  CHECK(*ec == errc::too_many_requests);
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0] == "listing gameservers was refused code=429 reason=TooManyRequests message=why not");
}

TEST_CASE_FIXTURE(source_fixture, "what cannot be decoded is left out of a list, with a line about it") {
  list();
  answer(200, page_text("10", "", {R"({"metadata":{"name":"odd","namespace":"default"},"status":{"state":7}})", object_text("b", "4")}));
  REQUIRE(listed.servers.size() == 1);
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0].find("default/odd") != std::string::npos);
}

TEST_CASE_FIXTURE(source_fixture, "an answer that is no list is malformed") {
  for (std::string const text : {"", "{", "[]", "{}", R"({"items":{}})", R"({"metadata":{"resourceVersion":"1"},"items":3})"}) {
    CAPTURE(text);
    list();
    answer(200, text);
    REQUIRE(ec);
    CHECK(*ec == errc::malformed);
  }
}

TEST_CASE_FIXTURE(source_fixture, "one stream serves many watches, and is read only while one waits") {
  watch("10");
  CHECK(client.request(0).target ==
        "/apis/agones.dev/v1/gameservers?watch=true&allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=300");
  CHECK(client.request(0).silence == 90s);
  auto const stream = open();
  CHECK(stream->reading());
  stream->send(event_text("ADDED", object_text("a", "11")) + event_text("MODIFIED", object_text("a", "12")));
  run();
  REQUIRE(ec);
  CHECK_FALSE(*ec);
  REQUIRE(heard.events.size() == 2);
  CHECK(heard.events[0].what == server_event::kind::added);
  CHECK(heard.events[1].what == server_event::kind::modified);
  CHECK(heard.resource_version == "12");
  CHECK_FALSE(stream->reading());
  watch("12");
  CHECK(client.calls() == 1);
  stream->send(event_text("DELETED", object_text("a", "13")));
  run();
  REQUIRE(ec);
  CHECK(heard.events[0].what == server_event::kind::deleted);
}

TEST_CASE_FIXTURE(source_fixture, "an event may come in pieces, cut anywhere") {
  watch("10");
  auto const stream = open();
  auto const text = event_text("ADDED", object_text("a", "11"));
  for (char const c : text.substr(0, text.size() - 1)) {  // the line's end is not waited for
    CHECK_FALSE(ec);
    stream->send(std::string{c});
    run();
  }
  REQUIRE(ec);
  REQUIRE(heard.events.size() == 1);
  CHECK(*heard.events[0].server == [] {
    auto server = make_server("a");
    server.meta.resource_version = "11";
    return server;
  }());
}

TEST_CASE_FIXTURE(source_fixture, "a bookmark is no event, but a stream that was cut goes on from it") {
  watch("10");
  auto const stream = open();
  stream->send(bookmark("50"));
  run();
  CHECK_FALSE(ec);
  stream->end(errc::unavailable);
  run();
  REQUIRE(ec);
  CHECK(*ec == errc::unavailable);
  watch("10");
  CHECK(client.request(1).target.find("resourceVersion=50&") != std::string::npos);
}

TEST_CASE_FIXTURE(source_fixture, "a stream that is opened after a failure says so at once, without events, and once") {
  watch("10");
  auto const first = open();
  first->send(bookmark("50"));
  run();
  first->end(errc::unavailable);
  run();
  CHECK(*ec == errc::unavailable);
  watch("10");
  auto const second = open();
  REQUIRE(ec);
  CHECK_FALSE(*ec);
  CHECK(heard.events.empty());
  CHECK(heard.whole);
  CHECK(heard.resource_version == "10");
  watch("10");
  CHECK_FALSE(ec);
  CHECK(client.calls() == 2);
  CHECK(second->reading());
  second->send(event_text("ADDED", object_text("a", "51")));
  run();
  REQUIRE(ec);
  CHECK(heard.events.size() == 1);

  watch("51");
  second->end(errc::unavailable);
  run();
  list();  // says it, too
  answer(200, page_text("60", "", {}));
  watch("60");
  open();
  CHECK_FALSE(ec);
}

TEST_CASE_FIXTURE(source_fixture, "a stream that ends as agreed is opened again where it was, one that ends at once is not") {
  watch("10");
  auto first = open();
  first->send(bookmark("20"));
  run();
  clock.advance(300s);
  first->end();
  run();
  CHECK_FALSE(ec);
  REQUIRE(client.calls() == 2);
  CHECK(client.request(1).target.find("resourceVersion=20&") != std::string::npos);
  auto const second = open();
  second->end();
  run();
  REQUIRE(ec);
  CHECK(*ec == errc::unavailable);
}

TEST_CASE_FIXTURE(source_fixture, "a stream that ends within an event gives nothing of it") {
  watch("10");
  auto const stream = open();
  clock.advance(10s);
  auto const text = event_text("ADDED", object_text("a", "11"));
  stream->send(event_text("ADDED", object_text("b", "11")) + text.substr(0, text.size() / 2));
  run();
  REQUIRE(ec);
  CHECK(heard.events.size() == 1);
  watch("11");
  stream->end();
  run();
  REQUIRE(ec);
  CHECK(*ec == errc::unavailable);
}

TEST_CASE_FIXTURE(source_fixture, "a version that was compacted is too old, whether told by status or by event") {
  watch("10");
  auto const refused = open(410);
  refused->send(failure_text(410, "Expired"));
  refused->end();
  run();
  REQUIRE(ec);
  CHECK(*ec == errc::too_old);
  watch("10");
  auto const stream = open();
  stream->send(event_text("ERROR", failure_text(410, "Expired")));
  run();
  REQUIRE(ec);
  CHECK(*ec == errc::too_old);
  CHECK(stream->gone());
  CHECK(log.lines.empty());
}

TEST_CASE_FIXTURE(source_fixture, "events before an error come first, then the error") {
  watch("10");
  auto const stream = open();
  stream->send(event_text("ADDED", object_text("a", "11")) + event_text("ERROR", failure_text(410, "Expired")) + "rest");
  run();
  REQUIRE(ec);
  CHECK_FALSE(*ec);
  CHECK(heard.events.size() == 1);
  CHECK(stream->gone());
  watch("11");
  REQUIRE(ec);
  CHECK(*ec == errc::too_old);
  CHECK(client.calls() == 1);
}

TEST_CASE_FIXTURE(source_fixture, "a watch refused with a pause fails after it, and then goes on from where it was") {
  watch("10");
  auto const stream = open(429, 3s);
  stream->send(failure_text(429, "TooManyRequests"));
  stream->end();
  run();
  CHECK_FALSE(ec);
  CHECK(clock.next() == clock.now() + 3s);
  clock.advance(3s);
  run();
  REQUIRE(ec);
  CHECK(*ec == errc::too_many_requests);
  watch("10");
  CHECK(client.request(1).target.find("resourceVersion=10&") != std::string::npos);
}

TEST_CASE_FIXTURE(source_fixture, "a refusal of endless length is cut") {
  watch("10");
  auto const stream = open(500);
  for (int i = 0; i < 20 && !ec; ++i) {
    stream->send(std::string(10'000, 'x'));
    run();
  }
  REQUIRE(ec);
  CHECK(*ec == errc::unavailable);
  CHECK(stream->gone());
}

TEST_CASE_FIXTURE(source_fixture, "an event over the bound, or no JSON, ends the stream with a clear error") {
  options.object_bytes = 2000;
  make();
  watch("10");
  auto const stream = open();
  stream->send(R"({"type":"ADDED","object":{"x":")" + std::string(3000, 'x'));
  run();
  REQUIRE(ec);
  CHECK(*ec == errc::limit_exceeded);
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0].find("more than 2000 bytes") != std::string::npos);
  for (std::string const text : {"}", "{\"type\":\"NEW\",\"object\":{}}", "[1]", "{\"type\":\"ADDED\"}", "\"ADDED\""}) {
    CAPTURE(text);
    watch("10");
    auto const again = open();
    watch("10");  // the first answer was that it is open again
    again->send(text);
    run();
    REQUIRE(ec);
    CHECK(*ec == errc::malformed);
  }
}

TEST_CASE_FIXTURE(source_fixture, "an event about what cannot be decoded deletes it") {
  watch("10");
  auto const stream = open();
  stream->send(event_text("MODIFIED", R"({"metadata":{"name":"a","namespace":"default","uid":"u","resourceVersion":"11"},"status":{"state":7}})"));
  run();
  REQUIRE(ec);
  REQUIRE(heard.events.size() == 1);
  CHECK(heard.events[0].what == server_event::kind::deleted);
  CHECK(heard.events[0].server->meta.name == "a");
  CHECK(heard.events[0].server->meta.uid == "u");
  CHECK(log.lines.size() == 1);
}

TEST_CASE_FIXTURE(source_fixture, "cancelling works at every stage, and the next call works") {
  SUBCASE("while a list waits for a page") { list(); }
  SUBCASE("during a list's pause") {
    list();
    answer(503, "", 5s);
  }
  SUBCASE("while a stream opens") { watch("10"); }
  SUBCASE("while events are waited for") {
    watch("10");
    open();
  }
  SUBCASE("during a watch's pause") {
    watch("10");
    open(503, 5s)->end();
    run();
  }
  REQUIRE_FALSE(ec);
  leave.emit(boost::asio::cancellation_type::terminal);
  run();
  REQUIRE(ec);
  CHECK(*ec == condition::cancelled);
  CHECK(clock.pending() == 0);
  auto const before = client.calls();
  watch("10");
  CHECK(client.calls() == before + 1);
  open()->send(event_text("ADDED", object_text("a", "11")));
  run();
  REQUIRE(ec);
  CHECK_FALSE(*ec);
}

TEST_CASE_FIXTURE(source_fixture, "a second call at a time is refused, and a source that goes away cancels") {
  watch("10");
  open();
  std::optional<error_code> second;
  source->async_list([&](error_code e, server_list) { second = e; });
  run();
  REQUIRE(second);
  CHECK(*second == errc::invalid_request);
  CHECK_FALSE(ec);
  source.reset();
  run();
  REQUIRE(ec);
  CHECK(*ec == condition::cancelled);
}

TEST_CASE("options out of range are named") {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  scripted_client client{context.get_executor()};
  CHECK_THROWS_WITH_AS(kubernetes_source(context.get_executor(), client, clock, {.page = 0}),
                       "kubernetes_watch_options.page: must be at least 1", std::invalid_argument);
  CHECK_THROWS_WITH_AS(kubernetes_source(context.get_executor(), client, clock, {.silence = 1ms}),
                       "kubernetes_watch_options.silence: must be at least 1 s", std::invalid_argument);
}
