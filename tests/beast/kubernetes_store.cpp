#include "../support/servers.hpp"
#include "scripted_client.hpp"

#include <agones_alloc/beast/kubernetes/kubernetes_store.hpp>
#include <agones_alloc/flow/write_fate.hpp>
#include <agones_alloc/json/write.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>

using namespace beast_tests;
using namespace test_support;
using namespace std::chrono_literals;

namespace {

struct store_fixture {
  boost::asio::io_context context;
  scripted_client client{context.get_executor()};
  kubernetes_store store{client};
  std::optional<error_code> ec;
  store_result result;

  void run() {
    context.restart();
    context.poll();
  }
  auto taken() {
    return [this](error_code e, store_result r) {
      REQUIRE_FALSE(ec);
      ec = e;
      result = std::move(r);
    };
  }
  void write() {
    auto desired = make_server("a");
    desired.status.state = game_server_state::allocated;
    desired.meta.annotations.set(keys::last_allocated_annotation, "now");
    ec.reset();
    store.async_update(update_request{share(make_server("a")), share(std::move(desired)), {}, false}, taken());
    run();
  }
  void answer(int status, std::string body, std::optional<std::chrono::seconds> retry_after = {}) {
    client.answer(client.last(), status, std::move(body), retry_after);
    run();
    REQUIRE(ec);
  }
};

auto status_text(std::string_view reason, std::string_view message, std::string_view details = "{}") -> std::string {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" + std::string{message} +
         R"(","reason":")" + std::string{reason} + R"(","details":)" + std::string{details} + "}";
}

auto server_text(std::string_view version) -> std::string {
  auto server = make_server("a");
  server.meta.resource_version = version;
  server.status.state = game_server_state::allocated;
  server.spec = R"({"template":{"spec":{"containers":[]}}})";
  return to_json(server);
}

}  // namespace

TEST_CASE_FIXTURE(store_fixture, "a write is one conditional merge patch of what differs, and its answer is the new server") {
  write();
  REQUIRE(client.calls() == 1);
  auto const& sent = client.request(0);
  CHECK(sent.method == "PATCH");
  CHECK(sent.target == "/apis/agones.dev/v1/namespaces/default/gameservers/a?fieldManager=agones-alloc");
  CHECK(sent.content_type == "application/merge-patch+json");
  CHECK(sent.body == R"({"metadata":{"uid":"a-uid","resourceVersion":"1","annotations":{"agones.dev/last-allocated":"now"}},)"
                     R"("status":{"state":"Allocated"}})");
  CHECK_FALSE(ec);
  answer(200, server_text("7"));
  CHECK_FALSE(*ec);
  REQUIRE(result.server);
  CHECK(result.server->meta.resource_version == "7");
  CHECK(result.server->status.state == game_server_state::allocated);
  CHECK(result.server->spec.empty());
}

TEST_CASE_FIXTURE(store_fixture, "the caller's deadline goes with the write") {
  auto const deadline = std::chrono::steady_clock::time_point{5s};
  store.async_update(update_request{share(make_server("a")), share(make_server("a")), deadline, false}, taken());
  run();
  CHECK(client.request(0).deadline == deadline);
}

TEST_CASE_FIXTURE(store_fixture, "every answer to a write means what the allocator has to do next") {
  struct row {
    int status;
    std::string body;
    std::optional<std::chrono::seconds> retry_after;
    write_answer meaning;
  };
  auto const uid_cause = R"({"name":"a","causes":[{"reason":"FieldValueInvalid","message":"immutable","field":"metadata.uid"}]})";
  auto const field_cause = R"({"name":"a","causes":[{"reason":"FieldValueInvalid","message":"x","field":"status.counters"}]})";
  row const rows[]{
      {409, status_text("Conflict", "changed"), {}, write_answer::conflict},
      {410, status_text("Gone", "gone"), {}, write_answer::conflict},
      {412, "", {}, write_answer::conflict},
      {404, status_text("NotFound", "no such server", R"({"name":"a"})"), {}, write_answer::gone},
      {404, "404 page not found", {}, write_answer::not_applied},
      {404, status_text("NotFound", "the server could not find the requested resource"), {}, write_answer::not_applied},
      {422, status_text("Invalid", "uid", uid_cause), {}, write_answer::gone},
      {422, status_text("Invalid", "count", field_cause), {}, write_answer::refused},
      {400, status_text("BadRequest", "admission webhook denied the request"), {}, write_answer::refused},
      {403, status_text("Forbidden", "may not patch"), {}, write_answer::refused},
      {413, "", {}, write_answer::refused},
      {415, "", {}, write_answer::refused},
      {307, "", {}, write_answer::refused},
      {401, status_text("Unauthorized", "Unauthorized"), {}, write_answer::not_applied},
      {429, status_text("TooManyRequests", "slow down"), 1s, write_answer::not_applied},
      {429, "", {}, write_answer::not_applied},
      {503, "", 2s, write_answer::not_applied},
      {503, "", {}, write_answer::unknown},
      {500, status_text("InternalError", "etcd"), {}, write_answer::unknown},
      {502, "<html>", {}, write_answer::unknown},
      {504, status_text("Timeout", "timeout"), {}, write_answer::unknown},
      {408, "", {}, write_answer::unknown},
      {204, "", {}, write_answer::unknown},
      {200, "", {}, write_answer::unknown},
      {200, R"({"kind":"GameServer","metadata":{"name":"a"})", {}, write_answer::unknown},
      {200, R"({"kind":"Pod","metadata":{"name":"a","resourceVersion":"3"}})", {}, write_answer::unknown},
  };
  for (auto const& one : rows) {
    CAPTURE(one.status);
    CAPTURE(one.body);
    write();
    answer(one.status, one.body, one.retry_after);
    CHECK(judge_write(*ec) == one.meaning);
    CHECK(result.server == nullptr);
    CHECK(result.server_code == one.status);
    CHECK(result.retry_after == one.retry_after.value_or(0s));
  }
}

TEST_CASE_FIXTURE(store_fixture, "what a webhook denies was not written, whatever code it chose; nor was what a failing webhook stopped") {
  struct row {
    int status;
    std::string reason;
    std::string message;
    std::string details;
    write_answer meaning;
  };
  std::string const denied = R"(admission webhook \"quota.example\" denied the request: )";
  std::string const failing = R"(Internal error occurred: failed calling webhook \"quota.example\": )";
  row const rows[]{
      {422, "Invalid", denied + "closed", "{}", write_answer::refused},
      {400, "", R"(admission webhook \"quota.example\" denied the request without explanation)", "{}", write_answer::refused},
      // Not about the server: another object was missing, or changed, or the time was up.
      {404, "NotFound", denied + "no such season", R"({"name":"a"})", write_answer::refused},
      {422, "Invalid", denied + "x", R"({"causes":[{"field":"metadata.uid"}]})", write_answer::refused},
      {408, "", denied + "too slow", "{}", write_answer::refused},
      {409, "Conflict", denied + "season changed", "{}", write_answer::refused},
      {410, "Gone", denied + "season over", "{}", write_answer::refused},
      {412, "", denied + "season", "{}", write_answer::refused},
      {429, "TooManyRequests", denied + "later", R"({"retryAfterSeconds":2})", write_answer::not_applied},
      {500, "InternalError", denied + "no database", "{}", write_answer::not_applied},
      {503, "ServiceUnavailable", denied + "later", "{}", write_answer::not_applied},
      {504, "Timeout", denied + "later", "{}", write_answer::not_applied},
      {500, "InternalError", failing + "connection refused", "{}", write_answer::not_applied},
      // Somebody else's words that only hold the same.
      {500, "InternalError", "etcd: " + failing, "{}", write_answer::unknown},
      {504, "Timeout", failing + "proxy", "{}", write_answer::unknown},
      {404, "NotFound", "not found: " + denied, R"({"name":"a"})", write_answer::gone},
      {409, "Conflict", R"(admission webhook \"quota.example\" is new)", "{}", write_answer::conflict},
  };
  for (auto const& one : rows) {
    CAPTURE(one.status);
    CAPTURE(one.message);
    write();
    answer(one.status, status_text(one.reason, one.message, one.details));
    CHECK(judge_write(*ec) == one.meaning);
    CHECK(result.server_code == one.status);
  }
}

TEST_CASE_FIXTURE(store_fixture, "the server's own words come along, and its advice when to retry") {
  write();
  answer(422, status_text("Invalid", "status.counters.rooms: must not be negative"));
  CHECK(result.server_message == "status.counters.rooms: must not be negative");
  write();
  answer(429, status_text("TooManyRequests", "later", R"({"retryAfterSeconds":3})"));
  CHECK(result.retry_after == 3s);
  write();
  answer(502, "<h1>bad\ngateway</h1>");
  CHECK(result.server_message == "<h1>bad gateway</h1>");
}

TEST_CASE_FIXTURE(store_fixture, "a write without an answer is what the client says of it") {
  struct row {
    errc code;
    write_answer meaning;
  };
  for (auto const& one : {row{errc::unavailable, write_answer::not_applied}, row{errc::too_many_requests, write_answer::not_applied},
                          row{errc::deadline_exceeded, write_answer::not_applied}, row{errc::cancelled, write_answer::cancelled},
                          row{errc::invalid_request, write_answer::refused}, row{errc::outcome_unknown, write_answer::unknown}}) {
    CAPTURE(static_cast<int>(one.code));
    write();
    client.fail(client.last(), one.code);
    run();
    REQUIRE(ec);
    CHECK(judge_write(*ec) == one.meaning);
  }
}

TEST_CASE_FIXTURE(store_fixture, "cancelling a write withdraws the request") {
  boost::asio::cancellation_signal leave;
  store.async_update(update_request{share(make_server("a")), share(make_server("a")), {}, false},
                     boost::asio::bind_cancellation_slot(leave.slot(), taken()));
  run();
  leave.emit(boost::asio::cancellation_type::terminal);
  CHECK(client.withdrawn(0));
  run();
  REQUIRE(ec);
  CHECK(*ec == condition::cancelled);
}

TEST_CASE_FIXTURE(store_fixture, "a read asks the authority and tells gone from out of reach") {
  struct row {
    int status;
    std::string body;
    error_code meaning;
  };
  row const rows[]{
      {404, status_text("NotFound", "no such server", R"({"name":"a"})"), errc::not_found},
      {404, "404 page not found", errc::unavailable},
      {401, "", errc::unavailable},
      {403, status_text("Forbidden", "no"), errc::refused},
      {429, "", errc::too_many_requests},
      {500, "", errc::unavailable},
      {504, "", errc::unavailable},
      {200, "{}", errc::malformed},
  };
  for (auto const& one : rows) {
    CAPTURE(one.status);
    ec.reset();
    store.async_read(key("a"), taken());
    run();
    CHECK(client.request(client.last()).method == "GET");
    CHECK(client.request(client.last()).target == "/apis/agones.dev/v1/namespaces/default/gameservers/a");
    answer(one.status, one.body);
    CHECK(*ec == one.meaning);
  }
  ec.reset();
  store.async_read(key("a"), taken());
  run();
  answer(200, server_text("9"));
  CHECK_FALSE(*ec);
  CHECK(result.server->meta.resource_version == "9");
}

TEST_CASE("a store that keeps specs gives them back") {
  boost::asio::io_context context;
  scripted_client client{context.get_executor()};
  kubernetes_store store{client, {.field_manager = "", .keep_spec = true}};
  store_result result;
  store.async_update(update_request{share(make_server("a")), share(make_server("a")), {}, false},
                     [&](error_code, store_result r) { result = std::move(r); });
  context.poll();
  CHECK(client.request(0).target == "/apis/agones.dev/v1/namespaces/default/gameservers/a");
  client.answer(0, 200, server_text("2"));
  context.restart();
  context.poll();
  REQUIRE(result.server);
  CHECK(result.server->spec == R"({"template":{"spec":{"containers":[]}}})");
}
