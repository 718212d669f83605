// A source of game servers over a client whose answers the test gives, and the texts of an API server.
#pragma once

#include "../support/reports.hpp"
#include "../support/servers.hpp"
#include "../support/source_probe.hpp"
#include "scripted_client.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_source.hpp>
#include <agones_alloc/json/write.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace beast_tests {

using namespace test_support;

inline auto object_text(std::string_view name, std::string_view version) -> std::string {
  auto server = make_server(name);
  server.meta.resource_version = version;
  return to_json(server);
}

inline auto event_text(std::string_view type, std::string_view object) -> std::string {
  return R"({"type":")" + std::string{type} + R"(","object":)" + std::string{object} + "}\n";
}

inline auto bookmark(std::string_view version) -> std::string {
  return event_text("BOOKMARK", R"({"kind":"GameServer","metadata":{"resourceVersion":")" + std::string{version} + R"("}})");
}

inline auto failure_text(int code, std::string_view reason) -> std::string {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"why not","reason":")" + std::string{reason} +
         R"(","code":)" + std::to_string(code) + "}";
}

inline auto page_text(std::string_view version, std::string_view token, std::initializer_list<std::string> items) -> std::string {
  std::string out = R"({"kind":"GameServerList","apiVersion":"agones.dev/v1","metadata":{"resourceVersion":")" +
                    std::string{version} + R"(","continue":")" + std::string{token} + R"("},"items":[)";
  bool first = true;
  for (auto const& item : items) out += (std::exchange(first, false) ? "" : ",") + item;
  return out + "]}";
}

struct source_fixture : source_probe {
  manual_timer clock{context.get_executor()};
  scripted_client client{context.get_executor()};
  log_list log;
  kubernetes_watch_options options{.page = 4, .log = &log};

  source_fixture() { make(); }
  ~source_fixture() {
    source.reset();
    run();
    CHECK(clock.pending() == 0);
  }
  void make() { source = std::make_unique<kubernetes_source>(context.get_executor(), client, clock, options); }
  auto open(int status = 200, std::optional<std::chrono::seconds> retry_after = {}) {
    auto stream = client.open(client.last(), status, retry_after);
    run();
    return stream;
  }
  void answer(int status, std::string body, std::optional<std::chrono::seconds> retry_after = {}) {
    client.answer(client.last(), status, std::move(body), retry_after);
    run();
  }
};

}  // namespace beast_tests
