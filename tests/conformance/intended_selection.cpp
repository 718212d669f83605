// Intended answers of sort, find and policies.
#include "intended.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace conformance {
namespace {

// Differences of two int64 are exact in here, so nothing saturates and nothing overflows.
__extension__ typedef __int128 wide;

auto text(json::object const& object, std::string_view key) -> std::string {
  auto const* value = object.if_contains(key);
  return value == nullptr || value->is_null() ? std::string{} : std::string{value->as_string()};
}

auto object_in(json::object const& object, std::string_view key) -> json::object const* {
  auto const* value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_object();
}

auto list_size(json::object const& list) -> std::int64_t {
  auto const* values = list.if_contains("values");
  return values == nullptr || !values->is_array() ? 0 : static_cast<std::int64_t>(values->get_array().size());
}

/// Smaller goes first: a missing amount after every present one.
void push_amount(std::vector<wide>& key, bool present, wide amount, bool descending) {
  key.push_back(present ? 0 : 1);
  key.push_back(present ? (descending ? -amount : amount) : 0);
}

void push_priority(std::vector<wide>& key, json::object const& priority, json::object const& status) {
  auto const list = text(priority, "type") == "List";
  auto const* all = object_in(status, list ? "lists" : "counters");
  auto const* one = all == nullptr ? nullptr : object_in(*all, text(priority, "key"));
  wide amount = 0;
  if (one != nullptr) {
    amount = wide{one->at("capacity").as_int64()} - (list ? list_size(*one) : one->at("count").as_int64());
  }
  push_amount(key, one != nullptr, amount, text(priority, "order") == "Descending");
}

/// Spec 5.2 with its [R], as a tuple that is compared element by element.
auto packed_key(json::object const& server, answer const& given, bool with_steps)
    -> std::tuple<std::vector<wide>, std::string, std::string> {
  auto const& status = server.at("status").as_object();
  auto const& meta = server.at("metadata").as_object();
  auto const& gates = given.input.at("gates").as_string();
  std::vector<wide> key;
  if (with_steps) {
    key.push_back(text(status, "state") == "Allocated" ? 0 : 1);
    auto const* load = object_in(given.input.at("nodeCounts").as_object(), text(status, "nodeName"));
    key.push_back(load == nullptr ? 1 : 0);
    key.push_back(load == nullptr ? 0 : -load->at("allocated").as_int64());
    key.push_back(load == nullptr ? 0 : -load->at("ready").as_int64());
    if (gates == "players") {
      auto const* players = object_in(status, "players");
      auto const amount =
          players == nullptr ? wide{0} : wide{players->at("capacity").as_int64()} - players->at("count").as_int64();
      push_amount(key, players != nullptr, amount, false);
    }
  }
  auto const* priorities = given.input.at("gsa").at("spec").as_object().if_contains("priorities");
  if (gates != "noCounts" && priorities != nullptr && priorities->is_array()) {
    for (auto const& priority : priorities->get_array()) push_priority(key, priority.as_object(), status);
  }
  return {std::move(key), text(meta, "name"), text(meta, "namespace")};
}

}  // namespace

auto in_total_order(answer const& given) -> intended_answer {
  auto const packed = given.input.at("function") == "ListSortedGameServers";
  bool partial = false;
  std::set<bool> have_players;
  std::set<std::string> names;
  std::vector<std::tuple<std::vector<wide>, std::string, std::string>> keys;
  for (auto const& one : given.input.at("gameServers").as_array()) {
    auto const& server = one.as_object();
    auto const& status = server.at("status").as_object();
    partial |= packed && !given.input.at("nodeCounts").as_object().contains(text(status, "nodeName"));
    have_players.insert(object_in(status, "players") != nullptr);
    partial |= !names.insert(text(server.at("metadata").as_object(), "name")).second;
    keys.push_back(packed_key(server, given, packed));
  }
  partial |= packed && given.input.at("gates") == "players" && have_players.size() == 2;
  if (!partial) return std::nullopt;
  std::sort(keys.begin(), keys.end());
  json::array order;
  for (auto const& [key, name, space] : keys) order.emplace_back(space + "/" + name);
  return order;
}

auto refused_before_search(answer const& given) -> intended_answer {
  if (given.part != "answer" || given.input.at("valid").as_bool()) return std::nullopt;
  // Which field is named is for the validate family to check; here it must only be a refusal.
  auto const* ours = given.actual.if_object();
  if (ours == nullptr || !ours->contains("invalid")) return std::nullopt;
  return given.actual;
}

auto with_nameless_clusters_apart(answer const& given) -> intended_answer {
  auto const& policies = given.input.at("policies").as_array();
  auto const nameless = std::count_if(policies.begin(), policies.end(), [](json::value const& policy) {
    return text(policy.at("spec").at("connectionInfo").as_object(), "clusterName").empty();
  });
  // In the reference one nameless cluster uses up all others, at later priorities too: its draws cannot be ours.
  if (given.part == "reference's draws" && nameless > 1) return "";
  if (given.part != "groups" || nameless < 2) return std::nullopt;
  struct member {
    std::string key;
    std::int64_t weight;
  };
  // By priority and identity, then the members in the order of namespace and name.
  std::map<std::pair<std::int64_t, std::pair<std::string, std::string>>, std::vector<member>> clusters;
  for (auto const& policy : policies) {
    auto const& spec = policy.at("spec").as_object();
    auto const& meta = policy.at("metadata").as_object();
    auto const cluster = text(spec.at("connectionInfo").as_object(), "clusterName");
    auto const apart = cluster.empty() ? text(meta, "name") : std::string{};
    clusters[{spec.at("priority").as_int64(), {cluster, apart}}].push_back(
        {text(meta, "namespace") + "/" + text(meta, "name"), spec.at("weight").as_int64()});
  }
  std::map<std::int64_t, json::array> groups;
  for (auto& [where, members] : clusters) {
    std::sort(members.begin(), members.end(), [](member const& a, member const& b) { return a.key < b.key; });
    std::int64_t sum = 0;
    for (auto const& one : members) sum += one.weight;
    groups[where.first].push_back(
        json::object{{"cluster", where.second.first},
                     {"avgWeight", sum / static_cast<std::int64_t>(members.size())},
                     {"connectionInfoFromPolicy", members.front().key.substr(members.front().key.find('/') + 1)}});
  }
  json::array out;
  for (auto& [priority, of_priority] : groups) {
    out.push_back(json::object{{"priority", priority}, {"clusters", std::move(of_priority)}});
  }
  return out;
}

}  // namespace conformance
