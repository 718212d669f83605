// What an allocator needs from a Kubernetes cluster, put together.
#pragma once

#include <agones_alloc/async/merged_source.hpp>
#include <agones_alloc/async/reflector.hpp>
#include <agones_alloc/beast/kubernetes/event_recorder.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_kinds.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_mirror.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_source.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_store.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/random.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct kubernetes_cluster_options {
  std::vector<std::string> namespaces{};  ///< whose game servers are allocated; empty: all. Each once
  kubernetes_watch_options watch{};       ///< `ns` and `log` are set from here
  kubernetes_store_options store{};
  event_recorder_options events{};        ///< `log` is set from here
  bool write_events{true};
  /// Watch the nodes, so that servers on those that are cordoned, tainted with NoSchedule or NoExecute, or deleted rank last in
  /// packed order. While they cannot be listed, for want of the right to or for another reason, all nodes rank alike.
  bool rank_nodes{true};
  /// What Events are written with, so that they are never in the way of an allocation; null: the cluster's own client.
  http_client* events_client{nullptr};
  /// Between failed lists and watches. The cap bounds how late an API server that comes back is noticed.
  backoff_options retry{backoff_options::endless(std::chrono::milliseconds{100}, std::chrono::seconds{5})};
  std::function<void(server_event const&)> on_event{};  ///< reflector_options::on_event
  server_observer* observer{nullptr};                   ///< reflector_options::observer
  std::function<void(std::vector<game_server_ptr> const&)> on_list{};  ///< reflector_options::on_list
  logger* log{nullptr};
};

/// The store, the Events, a reflector that keeps `cache` in step with the game servers of the namespaces, and the nodes.
///
/// Lifetimes: clients, cache, timer, random source and logger must outlive it and, once it is destroyed, what is pending
/// on the executor then. An allocator that uses the store and the recorder must be gone before it. Thread safety: as
/// its parts, all functions from any thread.
class kubernetes_cluster {
 public:
  /// Throws std::invalid_argument for options out of range, an empty namespace or one named twice.
  AGONES_ALLOC_DECL kubernetes_cluster(boost::asio::any_io_executor, http_client&, ready_cache&, timer&, random_source&,
                                       kubernetes_cluster_options = {});
  kubernetes_cluster(kubernetes_cluster const&) = delete;
  auto operator=(kubernetes_cluster const&) -> kubernetes_cluster& = delete;

  auto servers() noexcept -> kubernetes_store& { return store_; }
  /// For allocator_ports::events; null without write_events.
  auto events() noexcept -> event_recorder* { return events_ ? &*events_ : nullptr; }

  /// Begins to list and watch.
  AGONES_ALLOC_DECL void start();
  /// Ends the watches for good; writes go on to be possible.
  AGONES_ALLOC_DECL void stop();
  /// True from the first complete list on: what `/ready` is to say.
  auto synced() const noexcept -> bool { return reflector_->synced(); }
  auto statistics() const noexcept -> reflector_statistics { return reflector_->statistics(); }
  /// reflector::async_wait_synced.
  template <class Token = boost::asio::deferred_t>
  auto async_wait_synced(Token&& token = {}) {
    return reflector_->async_wait_synced(std::forward<Token>(token));
  }

 private:
  kubernetes_store store_;
  std::optional<event_recorder> events_;
  std::vector<std::unique_ptr<kubernetes_source>> sources_;  ///< of a namespace each
  std::optional<merged_source> merged_;
  std::optional<reflector> reflector_;
  std::shared_ptr<kubernetes_mirror<node_kind>> nodes_;  ///< null without rank_nodes
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/kubernetes/kubernetes_cluster.ipp>
#endif
