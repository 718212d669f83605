#include "../support/reports.hpp"
#include "../support/servers.hpp"
#include "scripted_client.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/kubernetes/event_recorder.hpp>

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>

using namespace beast_tests;
using namespace test_support;
using namespace std::chrono_literals;

namespace {

struct recorder_fixture {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  scripted_client client{context.get_executor()};
  log_list log;
  event_recorder_options options{.queue = 3, .writers = 2, .log = &log};
  std::unique_ptr<event_recorder> events;

  recorder_fixture() { make(); }
  ~recorder_fixture() {
    events.reset();
    run();
    CHECK(clock.pending() == 0);
  }
  void make() { events = std::make_unique<event_recorder>(context.get_executor(), client, clock, options); }
  void run() {
    context.restart();
    context.poll();
  }
  void tell(std::string_view name, std::string_view message = "Allocated") {
    events->record(make_server(name), recorder::type::normal, "Allocated", message);
    run();
  }
  void answer(std::size_t i, int status, std::optional<std::chrono::seconds> retry_after = {}) {
    client.answer(i, status, "{}", retry_after);
    run();
  }
};

}  // namespace

TEST_CASE_FIXTURE(recorder_fixture, "an event is posted in its server's namespace, and counted when it comes again") {
  tell("a");
  REQUIRE(client.calls() == 1);
  CHECK(client.request(0).method == "POST");
  CHECK(client.request(0).target == "/api/v1/namespaces/default/events");
  CHECK(client.request(0).content_type == "application/json");
  CHECK(client.request(0).deadline == clock.now() + 10s);
  CHECK(client.request(0).body.find(R"("reason":"Allocated","message":"Allocated")") != std::string::npos);
  answer(0, 201);
  tell("a");
  CHECK(client.request(1).method == "PATCH");
  CHECK(client.request(1).target.substr(0, 36) == "/api/v1/namespaces/default/events/a.");
  CHECK(client.request(1).content_type == "application/merge-patch+json");
  CHECK(client.request(1).body.find(R"("count":2)") != std::string::npos);
  answer(1, 200);
  CHECK(events->counts().recorded == 2);
  CHECK(events->counts().written == 2);
  CHECK(events->counts().waiting == 0);
}

TEST_CASE_FIXTURE(recorder_fixture, "recording never waits: writers are few, the queue is short, and the oldest goes") {
  for (auto const* name : {"a", "b", "c", "d", "e", "f"}) tell(name);
  CHECK(client.calls() == 2);
  CHECK(events->counts().dropped == 1);
  CHECK(events->counts().waiting == 5);
  answer(0, 201);
  CHECK(client.calls() == 3);
  CHECK(client.request(2).body.find(R"("name":"d")") != std::string::npos);  // c was the oldest
}

TEST_CASE_FIXTURE(recorder_fixture, "events about one object are written one after the other") {
  tell("a");
  tell("a");
  tell("b");
  CHECK(client.calls() == 1);
  answer(0, 201);
  REQUIRE(client.calls() == 3);
  CHECK(client.request(1).method == "PATCH");
  CHECK(client.request(2).method == "POST");
}

TEST_CASE_FIXTURE(recorder_fixture, "an event that was cleaned up is created again") {
  tell("a");
  answer(0, 201);
  tell("a");
  answer(1, 404);
  CHECK(client.request(2).method == "POST");
  CHECK(client.request(2).body.find(R"("count":2)") != std::string::npos);
  answer(2, 201);
  CHECK(events->counts().written == 2);
}

TEST_CASE_FIXTURE(recorder_fixture, "what is not taken yet is tried again, as late as the server says") {
  tell("a");
  client.fail(0, errc::unavailable);
  run();
  CHECK(clock.next() == clock.now() + 1s);
  clock.advance(1s);
  run();
  answer(1, 429, 7s);
  CHECK(clock.next() == clock.now() + 7s);
  clock.advance(7s);
  run();
  answer(2, 201);
  CHECK(events->counts().written == 1);
  CHECK(log.lines.size() == 1);  // a row of failures is one line
}

TEST_CASE_FIXTURE(recorder_fixture, "a lost answer to what was created counts as written") {
  tell("a");
  client.fail(0, errc::outcome_unknown);
  run();
  clock.advance(1s);
  run();
  answer(1, 409);
  CHECK(events->counts().written == 1);
}

TEST_CASE_FIXTURE(recorder_fixture, "a refusal is final, and so is the last attempt") {
  options.retry = {2, 1s, 1.0, 0.0, 1s};
  make();
  tell("a");
  answer(0, 403);
  CHECK(events->counts().failed == 1);
  REQUIRE(log.lines.size() == 1);
  tell("b");
  answer(1, 500);
  clock.advance(1s);
  run();
  answer(2, 500);
  CHECK(events->counts().failed == 2);
  CHECK(clock.pending() == 0);
}

TEST_CASE_FIXTURE(recorder_fixture, "a flood about one object is limited") {
  for (int i = 0; i < 30; ++i) {
    tell("a");
    if (client.calls() == static_cast<std::size_t>(i) + 1) answer(client.last(), 200);
  }
  CHECK(client.calls() == 25);
  CHECK(events->counts().skipped == 5);
}

TEST_CASE_FIXTURE(recorder_fixture, "a recorder that goes away gives up what it had") {
  tell("a");
  tell("b");
  tell("c");
  client.fail(1, errc::unavailable);
  run();
  events.reset();
  run();
  CHECK(client.withdrawn(0));
  CHECK(client.calls() == 2);
}

TEST_CASE("options of a recorder that are out of range are named") {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  scripted_client client{context.get_executor()};
  CHECK_THROWS_WITH_AS(event_recorder(context.get_executor(), client, clock, {.writers = 0}),
                       "event_recorder_options.writers: must be at least 1", std::invalid_argument);
}
