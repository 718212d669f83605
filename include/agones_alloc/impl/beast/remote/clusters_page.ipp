#pragma once

#include <agones_alloc/beast/detail/plain_answer.hpp>
#include <agones_alloc/beast/remote/clusters_page.hpp>
#include <agones_alloc/flow/connection_iterator.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto milliseconds_of(std::chrono::nanoseconds time) -> double {
  return std::chrono::duration<double, std::milli>{time}.count();
}

inline auto connections_json(std::string_view endpoint, std::span<remote_endpoint_state const> remotes)
    -> boost::json::array {
  boost::json::array out;
  for (auto const& one : remotes) {
    if (one.endpoint != endpoint) continue;
    out.push_back(boost::json::object{{"protocol", one.protocol},
                                      {"secret", one.secret},
                                      {"serverName", one.server_name},
                                      {"credentialVersion", one.credential_version},
                                      {"credentialProblem", one.problem},
                                      {"open", one.connections},
                                      {"handshakes", one.opened},
                                      {"resumed", one.resumed},
                                      {"requests", one.sent}});
  }
  return out;
}

inline auto endpoint_json(std::string const& cluster, std::string const& endpoint, std::span<endpoint_state const> states,
                          std::span<remote_endpoint_state const> remotes) -> boost::json::object {
  boost::json::object out{{"endpoint", endpoint}, {"breaker", to_string(breaker_state::closed)}, {"calls", 0}};
  for (auto const& state : states) {
    if (state.cluster != cluster || state.endpoint != endpoint) continue;
    out["breaker"] = to_string(state.breaker);
    out["failuresInARow"] = state.failures;
    out["calls"] = state.calls;
    if (state.open_for.count() > 0) out["openForMs"] = milliseconds_of(state.open_for);
    if (state.calls == 0) continue;
    out["lastOutcome"] = to_string(state.last);
    out["lastMessage"] = state.message;
    out["lastTookMs"] = milliseconds_of(state.took);
  }
  out["connections"] = connections_json(endpoint, remotes);
  return out;
}

struct listed_cluster {
  boost::json::array draws;
  std::set<std::string> endpoints;
  bool local{false};
};

}  // namespace detail

AGONES_ALLOC_DECL auto clusters_json(std::span<game_server_allocation_policy const> policies,
                                     std::span<endpoint_state const> states,
                                     std::span<remote_endpoint_state const> remotes) -> std::string {
  std::map<std::string, std::vector<game_server_allocation_policy>> spaces;
  for (auto const& policy : policies) spaces[policy.meta.namespace_.str()].push_back(policy);
  std::map<std::string, detail::listed_cluster> listed;
  for (auto const& [space, members] : spaces) {
    connection_iterator const clusters{members};
    for (auto const& group : clusters.groups()) {
      for (auto const& cluster : group.clusters) {
        auto& of = listed[cluster.identity];
        of.draws.push_back(boost::json::object{{"namespace", space}, {"priority", group.priority}, {"weight", cluster.weight}});
        of.local = of.local || cluster.connection.allocation_endpoints.empty();
        for (auto const& endpoint : cluster.connection.allocation_endpoints) of.endpoints.insert(endpoint.str());
      }
    }
  }
  boost::json::array out;
  for (auto& [name, of] : listed) {
    boost::json::array endpoints;
    for (auto const& endpoint : of.endpoints) endpoints.push_back(detail::endpoint_json(name, endpoint, states, remotes));
    out.push_back(boost::json::object{
        {"name", name}, {"local", of.local}, {"draws", std::move(of.draws)}, {"endpoints", std::move(endpoints)}});
  }
  return boost::json::serialize(boost::json::object{{"clusters", std::move(out)}}) + "\n";
}

AGONES_ALLOC_DECL void clusters_page::handle(http_request const& request, reply done) {
  if (request.method != "GET" && request.method != "HEAD") {
    return std::move(done)(detail::method_refusal("Method Not Allowed", "GET, HEAD", "clusters"));
  }
  if (auto const problem = detail::problem_of_parameters(request.query); !problem.empty()) {
    return std::move(done)(detail::plain_failure(400, problem, "clusters"));
  }
  auto const executor = boost::asio::get_associated_executor(done);
  auto all = policies_->policies();
  auto told = [remote = remote_, executor, all = std::move(all),
               done = std::move(done)](std::vector<endpoint_state> states) mutable {
    auto answer = [all = std::move(all), states = std::move(states),
                   done = std::move(done)](std::vector<remote_endpoint_state> const& remotes) mutable {
      auto out = json_response(200, clusters_json(*all, states, remotes));
      out.headers.emplace_back("Cache-Control", "no-store");
      out.route = "clusters";
      std::move(done)(std::move(out));
    };
    remote->async_endpoints(boost::asio::bind_executor(executor, std::move(answer)));
  };
  clusters_->async_endpoints(boost::asio::bind_executor(executor, std::move(told)));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
