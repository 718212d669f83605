#pragma once

#include <agones_alloc/beast/kubernetes/kubernetes_cluster.hpp>

#include <algorithm>
#include <stdexcept>

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

}  // namespace detail

AGONES_ALLOC_DECL kubernetes_cluster::kubernetes_cluster(boost::asio::any_io_executor executor, http_client& client,
                                                         ready_cache& cache, timer& time, random_source& random,
                                                         kubernetes_cluster_options options)
    : store_{client, std::move(options.store)} {
  if (options.write_events) {
    options.events.log = options.log;
    events_.emplace(executor, client, time, std::move(options.events));
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
  reflector_.emplace(executor, source, cache, time, random, std::move(reflect));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
