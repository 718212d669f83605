#include "../support/servers.hpp"

#include <agones_alloc/flow/gate_settings.hpp>

#include <doctest/doctest.h>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

auto read(std::string_view text, gate_settings settings = {}) -> gate_settings {
  field_errors errors;
  change_gate(settings, text, "gate", errors);
  CHECK(errors == field_errors{});
  return settings;
}

auto problem(std::string_view text) -> std::string {
  gate_settings settings;
  auto const before = settings;
  field_errors errors;
  change_gate(settings, text, "gate", errors);
  CHECK(settings == before);
  return to_string(errors);
}

}  // namespace

TEST_CASE("a gate is off unless it is asked for") {
  CHECK_FALSE(gate_settings{}.enabled);
  CHECK(read("") == gate_settings{});
  CHECK_FALSE(read("timeout=5s").enabled);
}

TEST_CASE("a source switches the gate on, with its defaults") {
  auto const watched = read("watch");
  CHECK(watched.enabled);
  CHECK(watched.key == "agones.dev/sdk-session-ready");
  CHECK(watched.timeout == 30s);
  CHECK(watched.period == 1s);
  CHECK(watched.on_timeout == gate_policy::shutdown);
  CHECK(watched.carrier == gate_carrier::reserved);
  CHECK(read("source=tcp").enabled);
  CHECK(read("on") == watched);
  CHECK_FALSE(read("http; off").enabled);
}

TEST_CASE("every part of a gate can be told") {
  auto const got = read(
      "http; carrier=allocated; on-timeout=returntoready; timeout=1m30s; key=example.com/up; at-least=3; port=game; "
      "path=/ready?now=1; period=250ms; try-timeout=100ms; initial-delay=2s; successes=2; failures=5; servers=7");
  CHECK(got.source == gate_source::http);
  CHECK(got.carrier == gate_carrier::allocated);
  CHECK(got.on_timeout == gate_policy::return_to_ready);
  CHECK(got.timeout == 90s);
  CHECK(got.key == "example.com/up");
  CHECK(got.at_least == 3);
  CHECK(got.port == "game");
  CHECK(got.path == "/ready?now=1");
  CHECK(got.period == 250ms);
  CHECK(got.try_timeout == 100ms);
  CHECK(got.initial_delay == 2s);
  CHECK(got.successes == 2);
  CHECK(got.failures == 5);
  CHECK(got.servers == 7);
}

TEST_CASE("settings are read back from their text, whatever there was before") {
  auto const all = read("webhook; timeout=1500ms; initial-delay=1s; servers=2; on-timeout=MarkUnhealthy; period=1234567890ns");
  CHECK(read(to_text(all)) == all);
  CHECK(read(to_text(all), read("http; timeout=20h; initial-delay=19h; path=/x; port=p")) == all);
  CHECK(read(to_text(gate_settings{}), all) == gate_settings{});
}

TEST_CASE("what cannot be read is refused with its path, and changes nothing") {
  CHECK(problem("sometimes") == "gate: Invalid value: \"sometimes\": on, off, a source, or name=value is wanted");
  CHECK(problem("source=smoke") == "gate.source: Invalid value: \"smoke\": watch, counter, http, tcp, webhook, sse or grpc is wanted");
  CHECK(problem("timeout=soon") == "gate.timeout: Invalid value: \"soon\": a duration such as 30s or 500ms is wanted");
  CHECK(problem("timeout=0") == "gate.timeout: Invalid value: \"0\": must be between 1ms and 86400s");
  CHECK(problem("timeout=25h") == "gate.timeout: Invalid value: \"25h\": must be between 1ms and 86400s");
  CHECK(problem("period=1ms") == "gate.period: Invalid value: \"1ms\": must be between 10ms and 3600s");
  CHECK(problem("timeout=99999999999999999999h").find("gate.timeout") == 0);
  CHECK(problem("timeout=4294967295h").find("gate.timeout") == 0);
  CHECK(problem("successes=0") == "gate.successes: Invalid value: \"0\": must be between 1 and 100");
  CHECK(problem("servers=many") == "gate.servers: Invalid value: \"many\": a number is wanted");
  CHECK(problem("carrier=Ready").find("gate.carrier: Invalid value: \"Ready\"") == 0);
  CHECK(problem("on-timeout=Explode").find("gate.on-timeout: Invalid value") == 0);
  CHECK(problem("path=ready").find("gate.path: Invalid value: \"ready\"") == 0);
  CHECK(problem("path=/a b").find("gate.path") == 0);
  CHECK(problem("key=-").find("gate.key") == 0);
  CHECK(problem("port=a b").find("gate.port") == 0);
  CHECK(problem("host=10.0.0.7").find("gate.host: Unsupported value: \"10.0.0.7\"") == 0);
  CHECK(problem(std::string(3000, 'x')).find("gate: Too long") == 0);
}

TEST_CASE("all problems of a text are told, and the rest of it counts") {
  gate_settings settings;
  field_errors errors;
  change_gate(settings, "http; timeout=never; port=game; servers=0", "gate", errors);
  CHECK(errors.size() == 2);
  CHECK(settings.port == "game");
  CHECK(settings.enabled);
}

TEST_CASE("a first try that would come after the end is refused") {
  field_errors errors;
  gate_settings settings;
  change_gate(settings, "http; timeout=5s; initial-delay=5s", "gate", errors);
  CHECK(to_string(errors) == "gate.initial-delay: Invalid value: \"5s\": must be less than timeout");
  CHECK(settings.initial_delay == 0s);
}

TEST_CASE("the request goes before the fleet's template, and that before the allocator's settings, part by part") {
  auto const otherwise = read("watch; timeout=40s; servers=1");
  auto server = make_server("a");
  field_errors errors;
  CHECK(choose_gate(otherwise, server, {}, errors) == otherwise);
  server.meta.annotations.set(keys::gate_annotation, "http; port=game; timeout=20s");
  auto const of_fleet = choose_gate(otherwise, server, {}, errors);
  CHECK(of_fleet.source == gate_source::http);
  CHECK(of_fleet.timeout == 20s);
  CHECK(of_fleet.servers == 1);
  auto const of_request = choose_gate(otherwise, server, "timeout=5s", errors);
  CHECK(of_request.timeout == 5s);
  CHECK(of_request.port == "game");
  CHECK_FALSE(choose_gate(otherwise, server, "off", errors).enabled);
  CHECK(errors.empty());
}

TEST_CASE("what a fleet's template says wrongly is told, and the allocator's settings stand in") {
  auto server = make_server("a");
  server.meta.annotations.set(keys::gate_annotation, "tcp; timeout=eternity");
  field_errors errors;
  auto const got = choose_gate({}, server, {}, errors);
  CHECK(to_string(errors) ==
        "metadata.annotations[agones-alloc.dev/gate].timeout: Invalid value: \"eternity\": a duration such as 30s or 500ms is wanted");
  CHECK(got.enabled);
  CHECK(got.source == gate_source::tcp);
  CHECK(got.timeout == 30s);
}
