#pragma once

#include <agones_alloc/beast/kubernetes/kubernetes_cluster.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto checked_namespaces(std::vector<std::string> names) -> std::vector<std::string> {
  auto sorted = names;
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty() && sorted.front().empty()) {
    throw std::invalid_argument{"kubernetes_cluster_options.namespaces: a name must not be empty"};
  }
  if (auto const twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    throw std::invalid_argument{"kubernetes_cluster_options.namespaces: \"" + *twice + "\" is named twice"};
  }
  if (names.empty()) names.emplace_back();  // all of them
  return names;
}

/// A mirror of the nodes that tells the cache which of them are open.
inline auto follow_nodes(boost::asio::any_io_executor const& executor, http_client& client, ready_cache& cache, timer& time,
                         random_source& random, kubernetes_watch_options watch)
    -> std::shared_ptr<kubernetes_mirror<node_kind>> {
  // The mirror calls back from its executor, perhaps while its owner lets go of it elsewhere.
  auto const mirror = std::make_shared<std::weak_ptr<kubernetes_mirror<node_kind>>>();
  kubernetes_mirror_options options;
  options.watch = std::move(watch);
  options.watch.ns.clear();
  // Who lacks the right to list nodes is not to fill the log, nor the API server's.
  options.retry = backoff_options::endless(std::chrono::milliseconds{100}, std::chrono::seconds{30});
  options.on_change = [mirror, &cache, known = std::shared_ptr<open_nodes const>{}]() mutable {
    auto const nodes = mirror->lock();
    if (nodes == nullptr) return;
    std::vector<shared_string> open;
    for (auto const& node : nodes->snapshot()) {
      if (!is_closing(*node)) open.push_back(node->meta.name);
    }
    auto now = std::make_shared<open_nodes const>(std::move(open));
    if (known != nullptr && *known == *now) return;  // a node reports its health
    known = std::move(now);
    cache.set_open_nodes(known);
  };
  auto made = std::make_shared<kubernetes_mirror<node_kind>>(executor, client, time, random, std::move(options));
  *mirror = made;
  return made;
}

}  // namespace detail

AGONES_ALLOC_DECL kubernetes_cluster::kubernetes_cluster(boost::asio::any_io_executor executor, http_client& client,
                                                         ready_cache& cache, timer& time, random_source& random,
                                                         kubernetes_cluster_options options)
    : store_{client, std::move(options.store)} {
  if (options.write_events) {
    options.events.log = options.log;
    auto& writer = options.events_client == nullptr ? client : *options.events_client;
    events_.emplace(executor, writer, time, std::move(options.events));
  }
  options.watch.log = options.log;
  std::vector<server_source*> parts;
  for (auto& name : detail::checked_namespaces(std::move(options.namespaces))) {
    options.watch.ns = std::move(name);
    sources_.push_back(std::make_unique<kubernetes_source>(executor, client, time, options.watch));
    parts.push_back(sources_.back().get());
  }
  if (parts.size() > 1) merged_.emplace(executor, parts);
  auto& source = merged_ ? static_cast<server_source&>(*merged_) : *sources_.front();
  reflector_options reflect;
  reflect.retry = options.retry;
  reflect.log = options.log;
  reflect.on_event = std::move(options.on_event);
  reflect.observer = options.observer;
  reflect.on_list = std::move(options.on_list);
  reflector_.emplace(executor, source, cache, time, random, std::move(reflect));
  if (options.rank_nodes) nodes_ = detail::follow_nodes(executor, client, cache, time, random, options.watch);
}

AGONES_ALLOC_DECL void kubernetes_cluster::start() {
  reflector_->start();
  if (nodes_) nodes_->start();
}

AGONES_ALLOC_DECL void kubernetes_cluster::stop() {
  reflector_->stop();
  if (nodes_) nodes_->stop();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
