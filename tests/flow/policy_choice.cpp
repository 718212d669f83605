#include <agones_alloc/flow/policy_choice.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace agones_alloc;

namespace {

auto policy(std::string_view space, std::string_view name, std::string_view region) -> game_server_allocation_policy {
  game_server_allocation_policy out;
  out.meta.namespace_ = space;
  out.meta.name = name;
  out.meta.labels.set("region", region);
  return out;
}

auto chosen(label_selector const& selector, std::vector<game_server_allocation_policy> const& all) -> std::string {
  auto const found = choose_policies(all, "games", selector);
  std::string out;
  for (auto const& one : std::get<0>(found)) out += one.meta.name.str() + " ";
  return out;
}

std::vector<game_server_allocation_policy> const all{policy("games", "a", "eu"), policy("other", "b", "eu"),
                                                     policy("games", "c", "us")};

}  // namespace

TEST_CASE("an empty policy selector takes every policy of the request's namespace, and of no other") {
  CHECK(chosen({}, all) == "a c ");
  CHECK(chosen({}, {}).empty());
}

TEST_CASE("policies are chosen by labels and expressions") {
  label_selector selector;
  selector.match_labels.set("region", "us");
  CHECK(chosen(selector, all) == "c ");
  selector.match_labels.set("region", "mars");
  CHECK(chosen(selector, all).empty());
  selector = {};
  selector.match_expressions.push_back({"region", "NotIn", {"us"}});
  CHECK(chosen(selector, all) == "a ");
}

TEST_CASE("a policy that is being deleted is none") {
  auto going = all;
  going[0].meta.deletion_timestamp = timestamp{std::chrono::seconds{1}};
  CHECK(chosen({}, going) == "c ");
}

TEST_CASE("a bad policy selector is an error of its field") {
  label_selector selector;
  selector.match_expressions.push_back({"region", "Near", {"us"}});
  auto const found = choose_policies(all, "games", selector);
  auto const* const problem = std::get_if<field_error>(&found);
  REQUIRE(problem != nullptr);
  CHECK(problem->field == "spec.multiClusterSetting.policySelector");
  CHECK(problem->detail.find("Near") != std::string::npos);
}
