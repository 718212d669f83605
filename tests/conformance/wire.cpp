#include "wire.hpp"

#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/json/read_allocation.hpp>
#include <agones_alloc/json/read_game_server.hpp>
#include <agones_alloc/json/write.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace conformance {

auto gates_of(json::object const& input) -> agones_alloc::feature_gates {
  agones_alloc::feature_gates out;
  auto const* gates = input.if_contains("gates");
  auto const name = gates == nullptr ? std::string_view{"default"} : text_of(*gates);
  if (name == "players") {
    out.player_allocation_filter = true;
  } else if (name == "noCounts") {
    out.counts_and_lists = false;
  } else if (name != "default") {
    throw std::invalid_argument{"unknown gate set " + std::string{name}};
  }
  return out;
}

auto read_allocation(json::value const& from) -> agones_alloc::game_server_allocation {
  return agones_alloc::read_game_server_allocation(from).value();
}

auto read_server(json::value const& from) -> agones_alloc::game_server {
  return agones_alloc::read_game_server(from).value();
}

auto parsed(std::string_view text) -> json::value { return agones_alloc::parse_json(text).value(); }

auto written(agones_alloc::game_server_allocation const& gsa) -> json::value {
  return parsed(agones_alloc::to_json(gsa));
}

auto written(agones_alloc::game_server const& server) -> json::value { return parsed(agones_alloc::to_json(server)); }

auto written(agones_alloc::field_errors const& errors) -> json::array {
  json::array out;
  for (auto const& error : errors) {
    out.push_back(json::object{{"type", to_string(error.type)},
                               {"field", error.field},
                               {"detail", error.detail},
                               {"message", to_string(error)}});
  }
  return out;
}

void sort_by_message(json::array& errors) {
  std::sort(errors.begin(), errors.end(), [](json::value const& a, json::value const& b) {
    return text_of(a.at("message")) < text_of(b.at("message"));
  });
}

auto without_type(json::value document) -> json::value {
  document.as_object().erase("kind");
  document.as_object().erase("apiVersion");
  return document;
}

auto without_null_creation(json::value document) -> json::value {
  if (auto* meta = document.as_object().if_contains("metadata"); meta != nullptr && meta->is_object()) {
    auto const* when = meta->get_object().if_contains("creationTimestamp");
    if (when != nullptr && when->is_null()) meta->get_object().erase("creationTimestamp");
  }
  return document;
}

auto has(json::object const& object, std::string_view key) -> bool {
  auto const* value = object.if_contains(key);
  return value != nullptr && !value->is_null();
}

auto text_of(json::value const& value) -> std::string_view { return value.as_string(); }

}  // namespace conformance
