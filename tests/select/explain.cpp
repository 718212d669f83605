#include "make.hpp"

#include <agones_alloc/select/find.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <variant>

using namespace agones_alloc;

namespace {

using clauses = std::vector<breakdown::clause>;

auto explained(game_server_allocation gsa, std::vector<game_server> servers, feature_gates gates = {}) -> breakdown {
  std::vector<game_server_ptr> list;
  for (auto& server : servers) list.push_back(std::make_shared<game_server const>(std::move(server)));
  return explain(*std::get<request_ptr>(allocation_request::make(std::move(gsa), gates)), list);
}

}  // namespace

TEST_CASE("the breakdown counts what remains after each clause, so that a mistyped label shows") {
  auto gsa = make::allocation();
  gsa.spec.required = make::selector({{"agones.dev/fleet", "gold"}, {"mode", "ctf"}});
  auto elsewhere = make::server("d");
  elsewhere.meta.namespace_ = "other";
  auto const found = explained(gsa, {make::labelled(make::server("a"), {{"agones.dev/fleet", "gold"}}),
                                     make::labelled(make::server("b"), {{"agones.dev/fleet", "gold"}, {"mode", "dm"}}),
                                     make::server("c"), elsewhere});
  REQUIRE(found.selectors.size() == 1);
  CHECK(
      found.selectors[0] ==
      clauses{{"namespace default", 3}, {"label agones.dev/fleet=gold", 2}, {"label mode=ctf", 0}, {"state Ready", 0}});
}

TEST_CASE("every clause has its name, in the order of the specification") {
  auto gsa = make::allocation();
  gsa.spec.selectors.resize(1);
  auto& selector = gsa.spec.selectors[0];
  selector.labels.match_expressions = {
      {"a", "In", {"2", "1"}}, {"b", "NotIn", {"x"}}, {"c", "Exists", {}}, {"d", "DoesNotExist", {}}};
  selector.game_server_state = "Allocated";
  selector.players = player_selector{1, 2};
  selector.counters.emplace().emplace("rooms", counter_selector{});
  selector.lists.emplace().emplace("guests", list_selector{});
  auto const found = explained(gsa, {}, {true, true});
  std::vector<std::string> names;
  for (auto const& clause : found.selectors.at(0)) names.push_back(clause.name);
  CHECK(names == std::vector<std::string>{"namespace default", "label a in (1, 2)", "label b not in (x)",
                                          "label c exists", "label d does not exist", "state Allocated", "players",
                                          "counter rooms", "list guests"});
}

TEST_CASE("there is one list of clauses for each selector") {
  auto gsa = make::allocation();
  gsa.spec.selectors.resize(2);
  gsa.spec.selectors[1].counters.emplace().emplace("rooms", counter_selector{.min_available = 5});
  auto const found = explained(gsa, {make::with_counter(make::server("a"), "rooms", 0, 5),
                                     make::with_counter(make::server("b"), "rooms", 1, 5)});
  REQUIRE(found.selectors.size() == 2);
  CHECK(found.selectors[0] == clauses{{"namespace default", 2}, {"state Ready", 2}});
  CHECK(found.selectors[1] == clauses{{"namespace default", 2}, {"state Ready", 2}, {"counter rooms", 1}});
}
