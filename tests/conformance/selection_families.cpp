// selectors, sort and find: which servers, in which order, which one.
#include "runner.hpp"
#include "wire.hpp"

#include <agones_alloc/port/random.hpp>
#include <agones_alloc/select/defaults.hpp>
#include <agones_alloc/select/find.hpp>
#include <agones_alloc/select/match.hpp>
#include <agones_alloc/select/rank.hpp>
#include <agones_alloc/select/request.hpp>
#include <agones_alloc/select/validate.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace conformance {
namespace {

namespace aa = agones_alloc;

void run_selectors(json::object const& input, report& results) {
  auto const gates = gates_of(input);
  auto gsa = read_allocation(json::object{{"spec", json::object{{"required", input.at("selector")}}}});
  auto const server = read_server(input.at("gameServer"));
  auto const answer = [&]() -> json::value {
    auto const compiled = aa::compile(gsa.spec.required, gates);
    if (!compiled) return nullptr;
    return matches(*compiled, server);
  };
  auto const without_defaults = answer();
  apply_defaults(gsa, gates);
  auto const with_defaults = answer();
  auto const* panics = input.if_contains("panics");
  results.expect("panics", panics != nullptr && panics->as_bool(), with_defaults.is_null());
  results.expect("matches", input.at("matches"), with_defaults);
  results.expect("matchesWithoutDefaults", input.at("matchesWithoutDefaults"), without_defaults);
  results.expect("valid", input.at("valid"), validate(gsa, gates).empty());
}

void run_sort(json::object const& input, report& results) {
  auto const gates = gates_of(input);
  auto gsa = read_allocation(input.at("gsa"));
  apply_defaults(gsa, gates);
  auto order = aa::ranking_of(gsa.spec, gates);
  // A list that is walked at random may have any order; the reference makes the packed one when the gate is off.
  if (input.at("function") == "ListSortedGameServers") order.kind = aa::order_kind::packed;
  std::map<std::string, aa::node_load, std::less<>> loads;
  for (auto const& [node, counts] : input.at("nodeCounts").as_object()) {
    loads[std::string{node}] = {counts.at("allocated").to_number<std::uint32_t>(),
                                counts.at("ready").to_number<std::uint32_t>()};
  }
  std::vector<aa::game_server> servers;
  for (auto const& server : input.at("gameServers").as_array()) servers.push_back(read_server(server));
  auto const load_of = [&](aa::game_server const& server) {
    auto const at = loads.find(server.status.node_name.view());
    return at == loads.end() ? nullptr : &at->second;
  };
  std::sort(servers.begin(), servers.end(), [&](aa::game_server const& a, aa::game_server const& b) {
    return compare(a, load_of(a), b, load_of(b), order) < 0;
  });
  json::array ours;
  for (auto const& server : servers) ours.emplace_back(to_string(key_of(server.meta)));
  results.expect("order", input.at("order"), std::move(ours));
}

auto found_as_json(std::optional<aa::found_server> const& found, std::vector<aa::game_server_ptr> const& list)
    -> json::value {
  if (!found) return {{"error", "Could not find an Allocatable GameServer"}};
  return {{"name", list[found->index]->meta.name.view()}, {"index", found->index}};
}

/// The names of many draws, as a sorted set.
auto drawn_names(aa::allocation_request const& request, std::vector<aa::game_server_ptr> const& list) -> json::value {
  std::set<std::string> names;
  aa::seeded_random random{1};
  for (int draw = 0; draw != 600; ++draw) {
    if (auto const found = find(request, list, random)) names.insert(list[found->index]->meta.name.str());
  }
  return json::array(names.begin(), names.end());
}

void run_find(json::object const& input, report& results) {
  auto const made = aa::allocation_request::make(read_allocation(input.at("gsa")), gates_of(input));
  auto const* request = std::get_if<aa::request_ptr>(&made);
  results.expect("valid", input.at("valid"), request != nullptr);
  json::value theirs;
  if (auto const* possible = input.if_contains("possible")) {
    theirs = *possible;
  } else if (auto const* error = input.if_contains("error")) {
    theirs = {{"error", *error}};
  } else {
    theirs = {{"name", input.at("name")}, {"index", input.at("index")}};
  }
  if (request == nullptr) {
    auto const& errors = std::get<aa::field_errors>(made);
    results.expect("answer", std::move(theirs), {{"invalid", errors.front().field}});
    return;
  }
  std::vector<aa::game_server_ptr> list;
  for (auto const& server : input.at("list").as_array()) {
    list.push_back(std::make_shared<aa::game_server const>(read_server(server)));
  }
  auto const& order = (*request)->shapes().front().order;
  results.expect("random", input.at("random"), order.kind == aa::order_kind::random);
  if (theirs.is_array()) {
    results.expect("answer", std::move(theirs), drawn_names(**request, list));
    return;
  }
  aa::seeded_random random{1};
  results.expect("answer", std::move(theirs), found_as_json(find(**request, list, random), list));
}

registration const selectors{"selectors", &run_selectors};
registration const sort{"sort", &run_sort};
registration const find_family{"find", &run_find};

}  // namespace
}  // namespace conformance
