// The servers and requests that the allocation benchmark works on.
#pragma once

#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/select/request.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace bench {

using namespace agones_alloc;

/// Ten labels, two counters, 200 bytes of annotations; sixteen servers a node.
inline auto make_server(std::size_t number, std::size_t servers) -> game_server {
  auto const text = [](char const* prefix, std::size_t n) { return std::string{prefix} + std::to_string(n); };
  // Names as a fleet's: a common beginning, the rest without order.
  auto const scrambled = (number * 0x9e3779b97f4a7c15ULL) >> 16;
  char name[48];
  std::snprintf(name, sizeof name, "fleet-7b9c4-%08llx", static_cast<unsigned long long>(scrambled & 0xffffffff));
  game_server server;
  server.meta.name = name;
  server.meta.namespace_ = "default";
  server.meta.uid = text("00000000-0000-4000-8000-", 100000000000 + number);
  server.meta.resource_version = std::to_string(number + 1);
  server.meta.generation = 1;
  server.meta.creation_timestamp = timestamp{std::chrono::seconds{1'700'000'000 + number % 100'000}};
  // 400 different label sets.
  std::string const mode = text("mode-", number % 10);
  std::string const region = text("region-", number / 10 % 10);
  std::string const build = text("build-", number % 80);
  server.meta.labels = string_map{{"agones.dev/fleet", "fleet"},
                                  {"agones.dev/gameserverset", "fleet-7b9c4"},
                                  {"agones.dev/role", "gameserver"},
                                  {"app.kubernetes.io/name", "game"},
                                  {"app.kubernetes.io/part-of", "sessions"},
                                  {"example.com/region", region},
                                  {"example.com/mode", mode},
                                  {"example.com/build", build},
                                  {"example.com/tier", "standard"},
                                  {"example.com/owner", "live-operations"}};
  server.meta.annotations = string_map{{"agones.dev/sdk-version", "1.52.0"},
                                       {"example.com/notes", std::string(170 - text("", number).size(), 'n') + text("", number)}};
  server.status.state = game_server_state::ready;
  server.status.address = "10.1.2.3";
  server.status.node_name = text("node-", number % (servers / 16 + 1));
  server.status.ports.push_back({"default", static_cast<std::int32_t>(7000 + number % 1000)});
  server.status.counters["rooms"] = {static_cast<std::int64_t>(number % 8), 10};
  server.status.counters["sessions"] = {static_cast<std::int64_t>(number % 3), 5};
  return server;
}

inline auto make_request(std::vector<std::pair<char const*, std::string>> const& labels, order_kind order) -> request_ptr {
  game_server_allocation wanted;
  wanted.meta.namespace_ = "default";
  game_server_selector selector;
  for (auto const& [key, value] : labels) selector.labels.match_labels.set(key, value);
  selector.game_server_state = "Ready";
  wanted.spec.selectors.push_back(std::move(selector));
  if (order == order_kind::by_priorities) {
    wanted.spec.scheduling = "Distributed";
    wanted.spec.priorities = std::vector<priority>{{"Counter", "rooms", "Ascending"}};
  }
  choice_options choice;
  choice.order = order;
  auto made = allocation_request::make(std::move(wanted), {}, choice);
  if (auto* const errors = std::get_if<field_errors>(&made)) throw std::logic_error{to_string(*errors)};
  return std::get<request_ptr>(std::move(made));
}

/// fleet: one shape that every server matches. impossible: one that none does. many: 200 shapes, each server in four.
inline auto make_requests(std::string const& shape, order_kind order) -> std::vector<request_ptr> {
  constexpr auto fleet = "agones.dev/fleet";
  if (shape == "fleet") return {make_request({{fleet, "fleet"}}, order)};
  if (shape == "impossible") return {make_request({{fleet, "flet"}}, order)};
  std::vector<request_ptr> out;
  for (int region = 0; region < 10; ++region) {
    auto const in = "region-" + std::to_string(region);
    out.push_back(make_request({{fleet, "fleet"}, {"example.com/region", in}}, order));
    out.push_back(make_request({{fleet, "fleet"}, {"example.com/mode", "mode-" + std::to_string(region)}}, order));
    for (int mode = 0; mode < 10; ++mode) {
      out.push_back(make_request(
          {{fleet, "fleet"}, {"example.com/region", in}, {"example.com/mode", "mode-" + std::to_string(mode)}}, order));
    }
  }
  for (int build = 0; build < 80; ++build) {
    out.push_back(make_request({{fleet, "fleet"}, {"example.com/build", "build-" + std::to_string(build)}}, order));
  }
  return out;
}

inline auto all_rankings() -> std::array<std::pair<char const*, order_kind>, 4> {
  return {{{"packed", order_kind::packed},
           {"priorities", order_kind::by_priorities},
           {"random", order_kind::random},
           {"newest", order_kind::newest_first}}};
}

}  // namespace bench
