#include "kubernetes_backing.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

namespace {

auto environment(char const* name) -> std::string {
  auto const* const value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

constexpr auto client_name = "agones-alloc-server/" AGONES_ALLOC_VERSION;

auto client_settings(kubernetes_settings const& settings) -> client_options {
  client_options out;
  out.limits.connections = settings.connections;
  out.limits.streams = 2 * settings.namespaces.size() + 8;  // watches of servers and fleets each, and that of the nodes
  out.limits.body_bytes = std::size_t{64} << 20U;
  out.user_agent = client_name;
  return out;
}

/// A few connections: four writers of Events, the reviews of direct callers, a ConfigMap now and then.
auto settings_beside() -> client_options {
  client_options out;
  out.limits.connections = 12;
  out.limits.streams = 1;
  out.limits.queue = 256;
  out.user_agent = client_name;
  return out;
}

auto cluster_settings(kubernetes_settings const& settings, http_client& beside, logger& log, server_observer* observer,
                      event_serving& told) -> kubernetes_cluster_options {
  kubernetes_cluster_options out;
  out.namespaces = settings.namespaces;
  out.write_events = !settings.no_events;
  out.rank_nodes = !settings.no_node_ranking;
  out.events_client = &beside;
  out.watch.stream_list = settings.stream_lists;
  out.log = &log;
  out.observer = observer;
  out.on_event = [&told](server_event const& event) { told.heard(event); };
  out.on_list = [&told](std::vector<game_server_ptr> const& all) { told.listed(all); };
  return out;
}

}  // namespace

auto find_cluster(kubernetes_settings const& settings) -> yaml::kubeconfig {
  if (settings.in_cluster) {
    return in_cluster_target(environment("KUBERNETES_SERVICE_HOST"), environment("KUBERNETES_SERVICE_PORT"),
                             settings.account_folder);
  }
  return yaml::load_kubeconfig({settings.kubeconfigs.begin(), settings.kubeconfigs.end()}, settings.context);
}

kubernetes_backing::kubernetes_backing(boost::asio::any_io_executor executor, server_options const& options,
                                       yaml::kube_target const& target, ready_cache& cache, timer& time, random_source& random,
                                       logger& log, server_observer* observer, event_serving& told)
    : options_{options},
      cache_{cache},
      log_{log},
      target_{target},
      connection_{make_kube_connection(executor, time, target, &log)},
      client_{executor, connection_.endpoint, connection_.credentials, time, client_settings(options.kubernetes), &log},
      beside_{executor, connection_.endpoint, connection_.credentials, time, settings_beside(), &log},
      cluster_{executor, client_, cache, time, random, cluster_settings(options.kubernetes, beside_, log, observer, told)} {
  if (options.directory.off) return;
  auto spaces = options.kubernetes.namespaces;
  if (spaces.empty()) spaces.emplace_back();  // all
  for (auto const& space : spaces) {
    kubernetes_mirror_options how;
    how.watch.ns = space;
    how.watch.log = &log;
    // Without the right to list them there are the counts of their servers; the log is not to fill with it.
    how.retry = backoff_options::endless(std::chrono::milliseconds{100}, std::chrono::seconds{30});
    how.on_change = [this] { fleets_listed_ = true; };
    how.on_object = [this, which = fleets_.size()](object_key const& key) { changed_fleets_[key] = fleets_[which].get(); };
    fleets_.push_back(std::make_unique<fleet_mirror>(executor, client_, time, random, std::move(how)));
  }
}

void kubernetes_backing::start() {
  cluster_.start();
  for (auto const& one : fleets_) one->start();
}

void kubernetes_backing::tell_fleets(fleet_directory& to) {
  auto const changed = std::exchange(changed_fleets_, {});
  if (std::exchange(fleets_listed_, false)) {
    std::vector<std::shared_ptr<fleet const>> all;
    for (auto const& mirror : fleets_) {
      auto some = mirror->snapshot();
      all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    }
    return to.set_fleets(all);
  }
  for (auto const& [key, mirror] : changed) {
    if (auto const now = mirror->find(key)) {
      to.put_fleet(now);
    } else {
      to.erase_fleet(key);
    }
  }
}

void kubernetes_backing::stop() {
  cluster_.stop();
  for (auto const& one : fleets_) one->stop();
  client_.close();
  beside_.close();
}

auto kubernetes_backing::unwritten() const -> std::size_t {
  auto* const events = cluster_.events();
  return events == nullptr ? 0 : events->counts().waiting;
}

// What is cached: servers that are ready or allocated.
auto kubernetes_backing::fleets() const -> std::vector<fleet> {
  std::map<object_key, fleet> found;
  for (auto const& server : cache_.snapshot({})) {
    auto const name = server->meta.labels.value_or_empty(keys::fleet_label);
    auto& of = found[object_key{server->meta.namespace_, name}];
    ++of.status.replicas;
    ++(server->status.state == game_server_state::ready ? of.status.ready_replicas : of.status.allocated_replicas);
  }
  std::vector<fleet> out;
  for (auto& [key, one] : found) {
    one.meta.namespace_ = key.namespace_;
    one.meta.name = key.name;
    out.push_back(std::move(one));
  }
  return out;
}

auto kubernetes_backing::describe() -> std::string {
  auto const& target = target_;
  auto const& names = options_.kubernetes.namespaces;
  auto const place = target.host + ":" + std::to_string(target.port);
  std::string listed;
  for (auto const& name : names) listed += (listed.empty() ? "" : ", ") + name;
  if (names.empty()) listed = "all";
  if (options_.speaks_by_log()) {
    log_.log(severity::info, "cluster", {{"server", place}, {"context", target.context}, {"namespaces", listed}});
  } else {
    std::cout << "  cluster " << place << (target.context.empty() ? "" : ", context " + target.context) << "; namespaces: " << listed
              << '\n';
  }
  return names.empty() ? target.default_namespace : names.front();
}

}  // namespace agones_alloc_server
