// policies: groups of clusters, and the shares in which they are drawn.
#include "runner.hpp"
#include "wire.hpp"

#include <agones_alloc/flow/connection_iterator.hpp>
#include <agones_alloc/json/read_policy.hpp>
#include <agones_alloc/json/write.hpp>
#include <agones_alloc/port/random.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace conformance {
namespace {

namespace aa = agones_alloc;

// Of draws that agree, one share in 3.5 million is further out.
constexpr double max_sigmas = 5.0;

using policies = std::vector<aa::game_server_allocation_policy>;
using shares = std::map<std::string, double>;

auto entry_of(aa::cluster_connection_info const& connection) -> std::string {
  return connection.cluster_name.str() + "@" + connection.namespace_.str();
}

auto groups_as_json(aa::connection_iterator const& iterator, policies const& all) -> json::array {
  json::array out;
  for (auto const& group : iterator.groups()) {
    std::vector<std::pair<std::string, json::object>> clusters;
    for (auto const& cluster : group.clusters) {
      auto const from = std::find_if(all.begin(), all.end(), [&](auto const& policy) {
        return policy.priority == group.priority && policy.connection_info == cluster.connection;
      });
      auto const policy = from == all.end() ? std::string{"none"} : from->meta.name.str();
      auto const name = cluster.connection.cluster_name.str();
      clusters.emplace_back(
          name + " " + policy,
          json::object{{"cluster", name}, {"avgWeight", cluster.weight}, {"connectionInfoFromPolicy", policy}});
    }
    std::sort(clusters.begin(), clusters.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
    json::array sorted;
    for (auto& [key, cluster] : clusters) sorted.push_back(std::move(cluster));
    out.push_back(json::object{{"priority", group.priority}, {"clusters", std::move(sorted)}});
  }
  return out;
}

/// The probability of every whole order, by walking all draws (spec 8.2).
void add_orders(std::vector<aa::connection_iterator::group> const& groups, std::size_t at,
                std::set<std::string> const& used, std::string const& so_far, double probability, shares& out) {
  for (; at != groups.size(); ++at) {
    double total = 0;
    for (auto const& cluster : groups[at].clusters) {
      if (!used.contains(cluster.identity)) total += static_cast<double>(cluster.weight);
    }
    if (total == 0) continue;
    for (auto const& cluster : groups[at].clusters) {
      if (cluster.weight == 0 || used.contains(cluster.identity)) continue;
      auto longer = used;
      longer.insert(cluster.identity);
      add_orders(groups, at, longer, so_far + (so_far.empty() ? "" : " > ") + entry_of(cluster.connection),
                 probability * static_cast<double>(cluster.weight) / total, out);
    }
    return;
  }
  out[so_far] += probability;
}

auto draw_orders(aa::connection_iterator const& iterator, int draws) -> shares {
  shares out;
  aa::seeded_random random{7};
  for (int draw = 0; draw != draws; ++draw) {
    auto copy = iterator;
    std::string order;
    while (auto const connection = copy.next(random)) order += (order.empty() ? "" : " > ") + entry_of(*connection);
    out[order] += 1.0 / draws;
  }
  return out;
}

/// The first order whose share is not what chance allows; "" when all are.
auto implausible(shares const& seen, shares const& exact, int draws) -> std::string {
  for (auto const& [order, share] : seen) {
    if (!exact.contains(order)) return "'" + order + "' cannot happen but has a share of " + std::to_string(share);
  }
  for (auto const& [order, probability] : exact) {
    auto const at = seen.find(order);
    auto const share = at == seen.end() ? 0.0 : at->second;
    // Rare orders are not normally distributed: half a dozen more or less proves nothing.
    auto const allowed = max_sigmas * std::sqrt(probability * (1 - probability) / draws) + 6.0 / draws;
    if (std::abs(share - probability) > allowed) {
      return "'" + order + "' has a share of " + std::to_string(share) + " instead of " + std::to_string(probability);
    }
  }
  return {};
}

void run_policies(json::object const& input, report& results) {
  policies all;
  for (auto const& policy : input.at("policies").as_array()) {
    all.push_back(aa::read_game_server_allocation_policy(policy).value());
  }
  aa::connection_iterator const iterator{all};
  auto const groups = groups_as_json(iterator, all);
  results.expect("groups", input.at("groups"), groups);

  for (auto const& policy : all) {
    auto const* expected = input.at("connectionInfos").as_object().if_contains(entry_of(policy.connection_info));
    if (expected == nullptr) continue;
    results.expect("connectionInfo", *expected, parsed(aa::to_json(policy)).at("spec").at("connectionInfo"));
  }

  shares exact;
  add_orders(iterator.groups(), 0, {}, "", 1.0, exact);
  auto const draws = input.at("draws").to_number<int>();
  if (auto const fault = implausible(draw_orders(iterator, draws), exact, draws); !fault.empty()) {
    results.fail("our draws", fault);
  }
  if (input.at("groups") != groups) return;
  shares theirs;
  for (auto const& [order, share] : input.at("orders").as_object())
    theirs[std::string{order}] = share.to_number<double>();
  results.expect("reference's draws", json::string{implausible(theirs, exact, draws)}, "");
}

registration const policies_family{"policies", &run_policies};

}  // namespace
}  // namespace conformance
