#pragma once

#include <agones_alloc/async/detail/call_deadline.hpp>
#include <agones_alloc/async/detail/multi_cluster_core.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline auto watch_key(std::string_view cluster, std::string_view endpoint) -> std::string {
  return std::string{cluster}.append(1, '\0').append(endpoint);
}

// Asked from now on until it answers, or no policy names it any more. It is as many as the memory has endpoints at most.
AGONES_ALLOC_DECL void multi_cluster_core::watch(cluster_operation const& op, cluster_memory::change const& dead) {
  auto const& space = op.request.request->allocation().meta.namespace_;
  for (auto const& group : op.fsm.clusters().groups()) {
    for (auto const& cluster : group.clusters) {
      auto const& all = cluster.connection.allocation_endpoints;
      auto const endpoint = std::find(all.begin(), all.end(), std::string_view{dead.endpoint});
      if (cluster.identity != dead.cluster || endpoint == all.end()) continue;
      auto const made = std::make_shared<watched_endpoint>();
      made->call.cluster = cluster.identity;
      made->call.endpoint = *endpoint;
      made->call.server_name = cluster.server_name;
      made->call.credentials = {space, cluster.connection.secret_name, cluster.connection.server_ca};
      auto const watched = watched_.emplace(watch_key(dead.cluster, dead.endpoint), made).first->second;
      if (watched->now == watched_endpoint::doing::nothing) probe_later(watched);
      return;
    }
  }
}

/// After a pause.
AGONES_ALLOC_DECL void multi_cluster_core::go_on_probing() {
  if (operations_.empty()) return;
  auto const all = watched_;
  for (auto const& [key, dead] : all) {
    if (dead->now == watched_endpoint::doing::nothing) probe_later(dead);
  }
}

/// Nobody asks: what waits for its next probe is left as it is. A probe that is under way ends by itself.
AGONES_ALLOC_DECL void multi_cluster_core::rest_if_idle() {
  if (options_.probe_idle || !operations_.empty()) return;
  for (auto const& [key, dead] : watched_) {
    if (dead->now != watched_endpoint::doing::waiting) continue;
    dead->now = watched_endpoint::doing::nothing;
    dead->withdraw.emit(boost::asio::cancellation_type::terminal);
  }
}

AGONES_ALLOC_DECL void multi_cluster_core::probe_later(watched_ptr const& dead) {
  dead->now = watched_endpoint::doing::nothing;
  auto const at = memory_.probe_at(dead->call.cluster.view(), dead->call.endpoint.view());
  if (!at) return forget(dead);
  if (operations_.empty() && !options_.probe_idle) return;
  dead->now = watched_endpoint::doing::waiting;
  auto due = [self = shared_from_this(), dead, wait = ++dead->wait](error_code ec) {
    bool const counts = dead->now == watched_endpoint::doing::waiting && dead->wait == wait;
    if (!ec && counts && !self->closed_) self->probe(dead);
  };
  time_.async_wait_until(*at, boost::asio::bind_cancellation_slot(dead->withdraw.slot(),
                                                                  boost::asio::bind_executor(serial_, std::move(due))));
}

AGONES_ALLOC_DECL void multi_cluster_core::probe(watched_ptr const& dead) {
  auto const cluster = dead->call.cluster.view();
  auto const endpoint = dead->call.endpoint.view();
  if (!is_named(dead->call)) {
    memory_.forget(cluster, endpoint);
    note_changes(nullptr);
    return forget(dead);
  }
  auto const now = time_.now();
  if (!memory_.begin_probe(cluster, endpoint, now)) return probe_later(dead);
  dead->now = watched_endpoint::doing::probing;
  dead->call.deadline = saturated(now, options_.probe_timeout);
  auto done = [self = shared_from_this(), dead](std::string problem) {
    if (!self->closed_) self->on_probed(dead, problem);
  };
  remote_.async_probe(dead->call, boost::asio::bind_cancellation_slot(
                                      dead->withdraw.slot(), boost::asio::bind_executor(serial_, std::move(done))));
}

AGONES_ALLOC_DECL void multi_cluster_core::on_probed(watched_ptr const& dead, std::string_view problem) {
  memory_.probed(dead->call.cluster.view(), dead->call.endpoint.view(), problem, time_.now(), random_.unit());
  note_changes(nullptr);
  probe_later(dead);
}

AGONES_ALLOC_DECL auto multi_cluster_core::is_named(remote_call const& call) const -> bool {
  auto const all = policies_.policies();
  return std::any_of(all->begin(), all->end(), [&call](game_server_allocation_policy const& policy) {
    auto const& endpoints = policy.connection_info.allocation_endpoints;
    return policy.meta.namespace_ == call.credentials.namespace_ &&
           std::find(endpoints.begin(), endpoints.end(), call.endpoint) != endpoints.end();
  });
}

AGONES_ALLOC_DECL void multi_cluster_core::forget(watched_ptr const& dead) {
  watched_.erase(watch_key(dead->call.cluster.view(), dead->call.endpoint.view()));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
