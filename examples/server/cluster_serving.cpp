#include "cluster_serving.hpp"

#include "grpc_serving.hpp"
#include "remote_settings.hpp"

#include <agones_alloc/beast/remote/folder_secrets.hpp>
#include <agones_alloc/beast/remote/kubernetes_secrets.hpp>
#include <agones_alloc/beast/remote/remote_by_trying.hpp>
#include <agones_alloc/yaml/manifest_files.hpp>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

namespace {

auto rest_settings(remote_cluster_settings const& settings, logger& log, metrics& counts) -> rest_remote_options {
  auto out = remote_settings<rest_remote_options>(settings, log, counts);
  out.serial_executor = true;
  return out;
}

auto make_secrets(boost::asio::any_io_executor executor, remote_cluster_settings const& settings, http_client* cluster, timer& time)
    -> std::unique_ptr<secret_source> {
  if (!settings.secrets.empty()) return std::make_unique<folder_secrets>(executor, settings.secrets);
  if (settings.watch && cluster != nullptr) return std::make_unique<kubernetes_secrets>(*cluster, time);
  return nullptr;
}

/// For endpoints that do not say what they speak. `grpc`: null in a server that was built without it.
auto make_tried(boost::asio::any_io_executor executor, connected_remote& rest, connected_remote* grpc, secret_source* secrets, timer& time,
                remote_cluster_settings const& settings, logger& log, metrics& counts) -> std::unique_ptr<connected_remote> {
  if (settings.protocol != remote_protocol::by_trying || grpc == nullptr) return nullptr;
  remote_by_trying_options how;
  how.connect_time = settings.connect_time;
  how.secret_time_to_live = settings.secret_time;
  how.secret_retry = std::min<std::chrono::nanoseconds>(settings.secret_time, std::chrono::seconds{5});
  how.counts = &counts;
  how.log = &log;
  return std::make_unique<remote_by_trying>(std::move(executor), rest, *grpc, secrets, time, how);
}

auto flow_settings(server_options const& options) -> multi_cluster_options {
  multi_cluster_options out;
  out.serial_executor = true;  // the server has one thread
  out.probe_idle = true;
  out.limits.fallback_local = options.clusters.fallback_local;
  out.limits.max_hops = options.front_end.max_hops;
  out.limits.repeats = options.clusters.repeats;
  out.memory.exhausted_for = options.clusters.exhausted_for;
  out.timeout = options.front_end.request_time;
  out.call_timeout = options.clusters.call_time;
  out.max_operations = options.max_allocations;
  return out;
}

/// Endpoints of the policies that this program cannot call.
void add_endpoint_problems(std::vector<game_server_allocation_policy> const& policies, remote_protocol otherwise,
                           std::vector<std::string>& problems) {
  auto const missing = grpc_problem();
  if (missing.empty()) return;
  for (auto const& policy : policies) {
    for (auto const& endpoint : policy.connection_info.allocation_endpoints) {
      if (protocol_of(endpoint.view(), otherwise) == remote_protocol::rest) continue;
      problems.push_back("policy " + to_string(key_of(policy.meta)) + ": endpoint \"" + endpoint.str() + "\": " + missing);
    }
  }
}

/// Policies of --policies that --fleets has, too.
void add_double_problems(placed_policies const& with_fleets, yaml::manifests const& loaded,
                         std::vector<std::string>& problems) {
  for (std::size_t i = 0; i < loaded.policies.size(); ++i) {
    auto const key = key_of(loaded.policies[i].meta);
    auto const same = std::find_if(with_fleets.policies.begin(), with_fleets.policies.end(),
                                   [&key](game_server_allocation_policy const& one) { return key_of(one.meta) == key; });
    if (same == with_fleets.policies.end()) continue;
    auto const& first = with_fleets.places[static_cast<std::size_t>(same - with_fleets.policies.begin())];
    problems.push_back(to_string(loaded.policy_places[i].problem_at(
        "metadata.name", "there are two of GameServerAllocationPolicy " + to_string(key) + ": the first is at " + first.file + ":" +
                             std::to_string(first.name_line))));
  }
}

}  // namespace

cluster_serving::cluster_serving(boost::asio::any_io_executor executor, server_options const& options, allocator& local,
                                 allocation_backend& local_backend, http_client* cluster, timer& time, random_source& random,
                                 logger& log, metrics& counts, fleet_directory* directory)
    : settings_{options.clusters},
      log_{log},
      secrets_{make_secrets(executor, options.clusters, cluster, time)},
      rest_{executor, secrets_.get(), time, rest_settings(options.clusters, log, counts)},
      grpc_{make_grpc_remote(executor, secrets_.get(), time, options.clusters, log, counts)},
      tried_{make_tried(executor, rest_, grpc_.get(), secrets_.get(), time, options.clusters, log, counts)},
      feeds_{make_grpc_fleet_feeds(secrets_.get(), time, log)},
      remote_{executor, rest_, grpc_.get(), options.clusters.protocol, grpc_problem(), tried_.get()},
      clusters_{executor, &local, remote_, policies_, time, random, flow_settings(options), {&counts, &log}},
      backend_{executor, local_backend, clusters_},
      page_{policies_, clusters_, remote_} {
  if (directory != nullptr && !options.directory.local_only) {
    remote_fleets_options how;
    how.connect_time = settings_.connect_time;
    how.otherwise = settings_.protocol;
    how.grpc = feeds_.get();
    how.secret_time_to_live = settings_.secret_time;
    how.secret_retry = std::min<std::chrono::nanoseconds>(settings_.secret_time, std::chrono::seconds{5});
    // A silent remote is noticed by its heartbeats: it is taken to send them as this server does.
    how.silence = 3 * options.directory.heartbeat;
    how.unserved_retry = options.directory.unserved_retry;
    how.counts = &counts;
    how.log = &log;
    fleets_.emplace(executor, *directory, policies_, secrets_.get(), time, random, how);
  }
  if (!settings_.watch || cluster == nullptr) return;
  auto spaces = options.kubernetes.namespaces;
  if (spaces.empty()) spaces.emplace_back();  // all
  for (auto const& space : spaces) {
    kubernetes_mirror_options how;
    how.watch.ns = space;
    how.watch.log = &log;
    how.on_change = [this] { copy_mirrors(); };
    mirrors_.push_back(std::make_unique<kubernetes_mirror<policy_kind>>(executor, *cluster, time, random, std::move(how)));
  }
}

auto cluster_serving::prepare(placed_policies with_fleets) -> bool {
  with_fleets_ = std::move(with_fleets);
  std::vector<std::string> problems;
  auto all = load(problems);
  for (auto const& problem : problems) std::cerr << "agones-alloc-server: " << problem << '\n';
  policies_.replace(std::move(all));
  return problems.empty();
}

auto cluster_serving::load(std::vector<std::string>& problems) const -> std::vector<game_server_allocation_policy> {
  auto out = with_fleets_.policies;
  if (!settings_.policies.empty()) {
    auto loaded = yaml::load_paths(settings_.policies);
    for (auto const& problem : loaded.errors) problems.push_back(to_string(problem));
    add_double_problems(with_fleets_, loaded, problems);
    std::move(loaded.policies.begin(), loaded.policies.end(), std::back_inserter(out));
  }
  add_endpoint_problems(out, settings_.protocol, problems);
  return out;
}

void cluster_serving::start() {
  for (auto const& one : mirrors_) one->start();
  if (fleets_) fleets_->start();
}

void cluster_serving::stop() {
  for (auto const& one : mirrors_) one->stop();
  if (fleets_) fleets_->stop();
  remote_.close();
}

void cluster_serving::look() {
  if (settings_.policies.empty()) return;
  std::vector<std::string> problems;
  auto all = load(problems);
  for (auto const& problem : problems) {
    log_.log(severity::error, "policies cannot be used; the last good ones stay in use", {{"reason", problem}});
  }
  if (!problems.empty()) return;
  auto const count = std::to_string(all.size());
  policies_.replace(std::move(all));
  log_.log(severity::info, "policies were read again", {{"policies", count}});
}

auto cluster_serving::synced() const -> bool {
  return std::all_of(mirrors_.begin(), mirrors_.end(), [](auto const& one) { return one->synced(); });
}

void cluster_serving::copy_mirrors() {
  std::vector<game_server_allocation_policy> all;
  for (auto const& mirror : mirrors_) {
    for (auto const& one : mirror->snapshot()) all.push_back(*one);
  }
  policies_.replace(std::move(all));
}

}  // namespace agones_alloc_server
