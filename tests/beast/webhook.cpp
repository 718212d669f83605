#include "client_fixture.hpp"

#include "../support/servers.hpp"

#include <agones_alloc/async/event_publisher.hpp>
#include <agones_alloc/beast/webhook/webhook_sink.hpp>
#include <agones_alloc/json/base64.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

using namespace beast_test;

namespace {

auto event_of(std::string_view name, std::string_view version = "7") -> object_event {
  auto server = test_support::make_server(name, "arena", game_server_state::allocated);
  server.meta.resource_version = version;
  object_event out;
  out.what = object_change::allocated;
  out.revision = version;
  out.server = test_support::share(std::move(server));
  return out;
}

auto batch_of(std::initializer_list<std::string_view> names) -> event_batch_ptr {
  auto out = std::make_shared<event_batch>();
  for (auto const name : names) out->events.push_back(event_of(name));
  return out;
}

auto field(std::string const& request, std::string const& name) -> std::string {
  auto const head = request.substr(0, request.find("\r\n\r\n") + 2);
  auto const at = head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  auto const begin = at + name.size() + 4;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}
auto body(std::string const& request) -> std::string { return request.substr(request.find("\r\n\r\n") + 4); }

auto quick() -> client_options {
  client_options out;
  out.times.connect = 1s;
  out.times.first_byte = 60s;
  return out;
}

struct hook_fixture : client_fixture {
  hook_fixture() : client_fixture{quick()} {}

  std::optional<webhook_sink> sink;
  std::optional<delivery_report> report;
  boost::asio::cancellation_signal cancel;

  void make(webhook_mode mode, std::string key = {}) {
    sink.emplace(*client, time, webhook_options{"/hook?x=1", "/clusters/eu", mode});
    if (!key.empty()) sink->set_key(webhook_key{std::move(key)});
  }
  void send(event_batch_ptr batch) {
    report.reset();
    sink->async_send(std::move(batch), time.now() + 10s,
                     boost::asio::bind_cancellation_slot(cancel.slot(), [this](delivery_report r) { report = std::move(r); }));
    CHECK_FALSE(report);
  }
  auto reported() -> delivery_report {
    until([this] { return report.has_value(); });
    return *report;
  }
  /// A delivery that the server answers so.
  auto answered(int status, std::string_view fields = {}) -> delivery_report {
    send(batch_of({"a"}));
    server.at(0).request();
    server.at(0).answer(status, "", fields);
    return reported();
  }
};

}  // namespace

TEST_CASE_FIXTURE(hook_fixture, "structured mode posts the whole event") {
  make(webhook_mode::structured);
  send(batch_of({"a"}));
  auto const request = server.at(0).request();
  CHECK(request.starts_with("POST /hook?x=1 HTTP/1.1\r\n"));
  CHECK(field(request, "Content-Type") == "application/cloudevents+json; charset=utf-8");
  CHECK(field(request, "webhook-signature").empty());
  auto const event = boost::json::parse(body(request));
  CHECK(event.at("id") == "a-uid.7.allocated");
  CHECK(event.at("source") == "/clusters/eu");
  server.at(0).answer(204, "");
  CHECK(reported().outcome == delivery_outcome::taken);
}

TEST_CASE_FIXTURE(hook_fixture, "binary mode posts the data, with the attributes as fields") {
  make(webhook_mode::binary);
  send(batch_of({"a"}));
  auto const request = server.at(0).request();
  CHECK(field(request, "Content-Type") == "application/json");
  CHECK(field(request, "ce-specversion") == "1.0");
  CHECK(field(request, "ce-id") == "a-uid.7.allocated");
  CHECK(field(request, "ce-type") == "dev.agones-alloc.gameserver.allocated");
  CHECK(field(request, "ce-subject") == "default/a");
  CHECK(boost::json::parse(body(request)).at("status").at("state") == "Allocated");
  server.at(0).answer(200, "ok");
  CHECK(reported().outcome == delivery_outcome::taken);
}

TEST_CASE_FIXTURE(hook_fixture, "batched mode posts an array") {
  make(webhook_mode::batched);
  send(batch_of({"a", "b", "c"}));
  auto const request = server.at(0).request();
  CHECK(field(request, "Content-Type") == "application/cloudevents-batch+json; charset=utf-8");
  CHECK(boost::json::parse(body(request)).as_array().size() == 3);
  server.at(0).answer(202, "");
  CHECK(reported().outcome == delivery_outcome::taken);
}

TEST_CASE_FIXTURE(hook_fixture, "a mode with an event each takes the first of several and wants the rest again") {
  make(webhook_mode::structured);
  send(batch_of({"a", "b"}));
  server.at(0).request();
  server.at(0).answer(200, "");
  auto const got = reported();
  CHECK(got.outcome == delivery_outcome::again);
  CHECK(got.taken == 1);
}

TEST_CASE_FIXTURE(hook_fixture, "each answer says what becomes of the delivery") {
  make(webhook_mode::structured);
  for (int const status : {200, 201, 202, 204, 299}) CHECK(answered(status).outcome == delivery_outcome::taken);
  for (int const status : {408, 425, 429, 500, 502, 503, 504}) CHECK(answered(status).outcome == delivery_outcome::again);
  for (int const status : {301, 302, 307, 400, 401, 403, 404, 405, 410, 415, 422}) {
    CHECK(answered(status, "Location: http://127.0.0.1:1/\r\n").outcome == delivery_outcome::refused);
  }
  CHECK(answered(413).outcome == delivery_outcome::too_large);
  CHECK(answered(429, "Retry-After: 12\r\n").retry_after == 12s);
  CHECK(answered(503).retry_after == 0s);
  CHECK(answered(503).reason == "HTTP status 503");
  CHECK(server.connections() == 1);
}

TEST_CASE_FIXTURE(hook_fixture, "a server that stalls is left at the deadline") {
  make(webhook_mode::structured);
  send(batch_of({"a"}));
  server.at(0).request();
  time.advance(9s);
  settle(io);
  CHECK_FALSE(report);
  time.advance(1s);
  CHECK(reported().outcome == delivery_outcome::again);
  // An answer that comes late is nobody's: the next delivery has a connection of its own.
  send(batch_of({"b"}));
  auto const request = server.at(1).request();
  CHECK(request.find("b-uid.7.allocated") != std::string::npos);
  server.at(1).answer(200, "");
  CHECK(reported().outcome == delivery_outcome::taken);
}

TEST_CASE_FIXTURE(hook_fixture, "a server that resets, closes or answers nonsense gets it again") {
  make(webhook_mode::structured);
  send(batch_of({"a"}));
  server.at(0).request();
  server.at(0).reset();
  CHECK(reported().outcome == delivery_outcome::again);
  send(batch_of({"a"}));
  server.at(1).request();
  server.at(1).send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  server.at(1).close();
  CHECK(reported().outcome == delivery_outcome::again);
  send(batch_of({"a"}));
  server.at(2).request();
  server.at(2).send("what?\r\n\r\n");
  CHECK(reported().outcome == delivery_outcome::again);
}

TEST_CASE_FIXTURE(hook_fixture, "a server that is not there gets it again") {
  server.stop();
  make(webhook_mode::structured);
  send(batch_of({"a"}));
  auto const got = reported();
  CHECK(got.outcome == delivery_outcome::again);
  CHECK(got.reason.find("connect") != std::string::npos);
}

TEST_CASE_FIXTURE(hook_fixture, "cancelled, a delivery is to come again") {
  make(webhook_mode::structured);
  send(batch_of({"a"}));
  server.at(0).request();
  cancel.emit(boost::asio::cancellation_type::terminal);
  CHECK(reported().outcome == delivery_outcome::again);
}

TEST_CASE("a signature is that of Standard Webhooks") {
  // Known answer: HMAC-SHA256, checked with openssl dgst.
  auto key = read_webhook_key("whsec_" + encode_base64("0123456789abcdef0123456789abcdef") + "\n");
  REQUIRE(std::holds_alternative<webhook_key>(key));
  CHECK(webhook_signature(std::get<webhook_key>(key), "msg_1", 1'600'000'000, R"({"a":1})") ==
        "v1,6zIP+MALpq3Al6yEe7v8XANcudHMYXFfcGKspHvo9mI=");
}

TEST_CASE("a key that is too short or no base64 is refused without being told") {
  for (auto const* text : {"", "\n", "short", "whsec_", "whsec_c2hvcnQ=", "whsec_!!!"}) {
    auto const key = read_webhook_key(text);
    REQUIRE(std::holds_alternative<std::string>(key));
    CHECK(std::get<std::string>(key).find("short") == std::string::npos);
  }
  auto const plain = read_webhook_key("sixteen bytes ok\r\n");
  REQUIRE(std::holds_alternative<webhook_key>(plain));
  CHECK(std::get<webhook_key>(plain).bytes() == "sixteen bytes ok");
}

TEST_CASE_FIXTURE(hook_fixture, "with a key every delivery is signed over id, time and body") {
  make(webhook_mode::structured, "0123456789abcdef");
  send(batch_of({"a"}));
  auto const request = server.at(0).request();
  CHECK(field(request, "webhook-id") == "a-uid_7_allocated");
  CHECK(field(request, "webhook-timestamp") == "1600000000");
  webhook_key const same{"0123456789abcdef"};
  CHECK(field(request, "webhook-signature") == webhook_signature(same, "a-uid_7_allocated", 1'600'000'000, body(request)));
  webhook_key const other{"fedcba9876543210"};
  CHECK(field(request, "webhook-signature") != webhook_signature(other, "a-uid_7_allocated", 1'600'000'000, body(request)));
  server.at(0).answer(200, "");
  reported();
  sink->set_key(webhook_key{"fedcba9876543210"});
  send(batch_of({"a"}));
  auto const again = server.at(0).request();
  CHECK(field(again, "webhook-signature") == webhook_signature(other, "a-uid_7_allocated", 1'600'000'000, body(again)));
  server.at(0).answer(200, "");
  reported();
}

TEST_CASE_FIXTURE(hook_fixture, "through a publisher: a server that is down for a while misses nothing, and sees repeats with the same id") {
  auto const to = std::make_shared<webhook_sink>(*client, time, webhook_options{"/", "/x", webhook_mode::structured});
  seeded_random random{1};
  event_publisher publisher{io.get_executor(), time, random, &log};
  event_channel_options options;
  options.name = "hook";
  options.delivery.retry.jitter = 0;
  publisher.add(to, options);
  auto server_now = test_support::make_server("a");
  publisher.stored(test_support::share(server_now));
  auto const first = server.at(0).request();
  server.at(0).answer(503, "", "Retry-After: 4\r\n");
  until([&] { return publisher.counts()[0].of.failing; });
  server_now.meta.resource_version = "2";
  server_now.status.state = game_server_state::allocated;
  publisher.stored(test_support::share(server_now));
  settle(io);
  CHECK_FALSE(server.at(0).has_request());
  time.advance(4s);
  auto const second = server.at(0).request();
  CHECK(body(second) == body(first));
  server.at(0).answer(200, "");
  auto const third = server.at(0).request();
  CHECK(body(third).find("a-uid.2.allocated") != std::string::npos);
  server.at(0).answer(200, "");
  until([&] { return publisher.counts()[0].of.sent == 2; });
  CHECK(publisher.counts()[0].of.retries == 1);
  for (auto const& line : log.lines) CHECK(line.find("a-uid") == std::string::npos);
}
