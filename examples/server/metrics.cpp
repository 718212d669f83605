#include "metrics.hpp"

#include "cluster_metrics.hpp"
#include "directory_metrics.hpp"
#include "event_metrics.hpp"
#include "fleet_serving.hpp"
#include "gate_metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <set>
#include <string>
#include <utility>

namespace agones_alloc_server {

namespace {

using agones_alloc::outcome;
using prometheus::Histogram;

constexpr std::size_t most_fleets = 200;

auto seconds_of(std::chrono::nanoseconds time) -> double { return std::chrono::duration<double>{time}.count(); }

/// The reference's words: the allocation's state, `error` for failures.
auto status_word(outcome result) -> char const* {
  switch (result) {
    case outcome::allocated: return "Allocated";
    case outcome::exhausted: return "UnAllocated";
    case outcome::contention: return "Contention";
    case outcome::invalid:
    case outcome::refused:
    case outcome::unavailable:
    case outcome::unknown:
    case outcome::cancelled:
    case outcome::deadline: break;
  }
  return "error";
}

auto known_method(std::string_view method) -> std::string {
  for (auto const* word : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    if (method == word) return word;
  }
  return method.empty() ? "none" : "other";
}

auto duration_buckets() -> Histogram::BucketBoundaries { return {0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2, 3}; }
auto retry_buckets() -> Histogram::BucketBoundaries { return {1, 2, 3, 4, 5}; }
auto request_buckets() -> Histogram::BucketBoundaries { return {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30}; }

}  // namespace

struct server_metrics::series {
  prometheus::Registry registry;

  prometheus::Family<Histogram>& duration = prometheus::BuildHistogram()
                                                .Name("agones_gameserver_allocations_duration_seconds")
                                                .Help("The distribution of gameserver allocation requests latencies")
                                                .Register(registry);
  prometheus::Family<Histogram>& retries = prometheus::BuildHistogram()
                                               .Name("agones_gameserver_allocations_retry_total")
                                               .Help("The count of gameserver allocation retry until allocation succeeds")
                                               .Register(registry);
  prometheus::Family<prometheus::Gauge>& replicas = prometheus::BuildGauge()
                                                        .Name("agones_fleets_replicas_count")
                                                        .Help("The count of replicas per fleet (total, desired, ready, reserved, allocated)")
                                                        .Register(registry);
  prometheus::Family<prometheus::Gauge>& health =
      prometheus::BuildGauge().Name("agones_healthcheck_status").Help("Checks of /live and /ready: 0 is ok, 1 failing").Register(registry);
  prometheus::Family<prometheus::Counter>& outcomes = prometheus::BuildCounter()
                                                          .Name("agones_alloc_allocations_total")
                                                          .Help("Finished allocations by outcome")
                                                          .Register(registry);
  prometheus::Counter& conflicts = prometheus::BuildCounter()
                                       .Name("agones_alloc_update_conflicts_total")
                                       .Help("Writes that met another version of the game server")
                                       .Register(registry)
                                       .Add({});
  prometheus::Counter& lost_claims = prometheus::BuildCounter()
                                         .Name("agones_alloc_claims_lost_total")
                                         .Help("Candidates that changed between choice and claim")
                                         .Register(registry)
                                         .Add({});
  prometheus::Counter& expired_claims = prometheus::BuildCounter()
                                            .Name("agones_alloc_claims_expired_total")
                                            .Help("Claims that nobody confirmed in time; their game servers were released")
                                            .Register(registry)
                                            .Add({});
  prometheus::Gauge& waiting = prometheus::BuildGauge()
                                   .Name("agones_alloc_requests_waiting")
                                   .Help("Requests that wait for a game server")
                                   .Register(registry)
                                   .Add({});
  prometheus::Gauge& oldest_wait = prometheus::BuildGauge()
                                       .Name("agones_alloc_oldest_wait_seconds")
                                       .Help("How long the first of the requests that wait has waited")
                                       .Register(registry)
                                       .Add({});
  std::chrono::steady_clock::time_point waiting_since{std::chrono::steady_clock::time_point::max()};
  prometheus::Gauge& in_flight = prometheus::BuildGauge()
                                     .Name("agones_alloc_allocations_in_flight")
                                     .Help("Allocations that have not completed")
                                     .Register(registry)
                                     .Add({});
  prometheus::Gauge& views = prometheus::BuildGauge()
                                 .Name("agones_alloc_index_views")
                                 .Help("Kinds of request for which game servers are kept in order")
                                 .Register(registry)
                                 .Add({});
  prometheus::Gauge& entries = prometheus::BuildGauge()
                                   .Name("agones_alloc_index_entries")
                                   .Help("Game servers that can be chosen, over all kinds of request")
                                   .Register(registry)
                                   .Add({});
  prometheus::Gauge& label_sets = prometheus::BuildGauge()
                                      .Name("agones_alloc_index_label_sets")
                                      .Help("Different sets of labels that game servers have")
                                      .Register(registry)
                                      .Add({});
  prometheus::Gauge& nodes = prometheus::BuildGauge()
                                 .Name("agones_alloc_index_nodes")
                                 .Help("Nodes that have game servers")
                                 .Register(registry)
                                 .Add({});
  prometheus::Gauge& connections =
      prometheus::BuildGauge().Name("agones_alloc_http_connections").Help("Open connections").Register(registry).Add({});
  prometheus::Family<prometheus::Counter>& cuts = prometheus::BuildCounter()
                                                      .Name("agones_alloc_http_connections_cut_total")
                                                      .Help("Connections the server ended because of a limit")
                                                      .Register(registry);
  prometheus::Family<Histogram>& requests = prometheus::BuildHistogram()
                                                .Name("agones_alloc_http_request_duration_seconds")
                                                .Help("From a request's first byte to its answer")
                                                .Register(registry);
  prometheus::Gauge& under_way = prometheus::BuildGauge()
                                     .Name("agones_alloc_http_requests_in_flight")
                                     .Help("Requests that have not been answered, those that wait for a game server included")
                                     .Register(registry)
                                     .Add({});
  prometheus::Gauge& callers = prometheus::BuildGauge()
                                   .Name("agones_alloc_http_callers")
                                   .Help("Clients that have requests under way")
                                   .Register(registry)
                                   .Add({});
  prometheus::Counter& refused = prometheus::BuildCounter()
                                     .Name("agones_alloc_http_requests_refused_total")
                                     .Help("Requests of clients that had as many under way as they may have")
                                     .Register(registry)
                                     .Add({});
  std::uint64_t refused_so_far{0};
  prometheus::Gauge& started = prometheus::BuildGauge()
                                   .Name("process_start_time_seconds")
                                   .Help("Start time of the process since unix epoch in seconds")
                                   .Register(registry)
                                   .Add({});

  cluster_metrics clusters{registry};
  directory_metrics directory{registry};
  event_metrics events{registry};
  gate_metrics gate{registry};

  // Adding labels to a family hashes them all; these remember the result.
  std::map<std::string, std::pair<Histogram*, Histogram*>, std::less<>> allocations;
  std::map<std::string, Histogram*, std::less<>> routes;
  std::map<outcome, prometheus::Counter*> outcome_counters;
  std::set<std::string, std::less<>> fleet_names;

  auto fleet_label(std::string_view name) -> std::string {
    if (name.empty()) return "none";
    if (fleet_names.find(name) != fleet_names.end()) return std::string{name};
    if (fleet_names.size() >= most_fleets) return "other";
    fleet_names.emplace(name);
    return std::string{name};
  }
};

server_metrics::server_metrics(std::chrono::system_clock::time_point started, fleet_source fleets, event_source events,
                               agones_alloc::probes const& checks)
    : fleets_{std::move(fleets)}, events_{std::move(events)}, probes_{&checks}, series_{std::make_unique<series>()} {
  series_->started.Set(std::chrono::duration<double>{started.time_since_epoch()}.count());
}

server_metrics::~server_metrics() = default;

void server_metrics::allocation(agones_alloc::allocation_sample const& sample) {
  auto& s = *series_;
  auto const fleet = s.fleet_label(sample.fleet);
  auto const* status = status_word(sample.result);
  auto const cluster = s.clusters.cluster_label(sample.cluster);
  auto key = fleet + '\n' + cluster + '\n' + status + '\n' + std::string{sample.scheduling} + (sample.multi_cluster ? "\n1" : "\n0");
  auto at = s.allocations.find(key);
  if (at == s.allocations.end()) {
    prometheus::Labels const labels{{"fleet_name", fleet},
                                    {"cluster_name", cluster},
                                    {"is_multicluster", sample.multi_cluster ? "true" : "false"},
                                    {"status", status},
                                    {"scheduling_strategy", std::string{sample.scheduling}}};
    auto* retries = sample.result == outcome::allocated ? &s.retries.Add(labels, retry_buckets()) : nullptr;
    at = s.allocations.emplace(std::move(key), std::pair{&s.duration.Add(labels, duration_buckets()), retries}).first;
  }
  at->second.first->Observe(seconds_of(sample.took));
  if (at->second.second != nullptr) at->second.second->Observe(sample.tries);
  auto& counter = s.outcome_counters[sample.result];
  if (counter == nullptr) counter = &s.outcomes.Add({{"outcome", std::string{to_string(sample.result)}}});
  counter->Increment();
}

void server_metrics::update_conflict() { series_->conflicts.Increment(); }
void server_metrics::claim_lost() { series_->lost_claims.Increment(); }
void server_metrics::claim_expired() { series_->expired_claims.Increment(); }
void server_metrics::waiting(std::size_t count, std::chrono::steady_clock::time_point oldest) {
  series_->waiting.Set(static_cast<double>(count));
  series_->waiting_since = oldest;
}
void server_metrics::in_flight(std::size_t count) { series_->in_flight.Set(static_cast<double>(count)); }
void server_metrics::index_size(agones_alloc::index_sample const& sample) {
  series_->views.Set(static_cast<double>(sample.views));
  series_->entries.Set(static_cast<double>(sample.entries));
  series_->label_sets.Set(static_cast<double>(sample.label_sets));
  series_->nodes.Set(static_cast<double>(sample.nodes));
}
void server_metrics::gate_pending(std::size_t count) { series_->gate.pending(count); }
void server_metrics::gate_ended(agones_alloc::gate_sample const& sample) { series_->gate.ended(sample, series_->fleet_label(sample.fleet)); }
void server_metrics::cluster_call(agones_alloc::cluster_call_sample const& sample) { series_->clusters.call(sample); }
void server_metrics::cluster_breaker(std::string_view cluster, std::string_view endpoint, bool open) {
  series_->clusters.breaker(cluster, endpoint, open);
}
void server_metrics::credentials_read(std::string_view name, bool good) { series_->clusters.credentials_read(name, good); }
void server_metrics::connections(std::size_t open) { series_->connections.Set(static_cast<double>(open)); }
void server_metrics::connection_cut(std::string_view why) { series_->cuts.Add({{"reason", std::string{why}}}).Increment(); }

void server_metrics::request(std::string_view route, std::string_view method, int status, std::chrono::nanoseconds took) {
  auto& s = *series_;
  auto const verb = known_method(method);
  auto key = std::string{route} + '\n' + verb + '\n' + std::to_string(status);
  auto at = s.routes.find(key);
  if (at == s.routes.end()) {
    auto& made = s.requests.Add({{"route", std::string{route}}, {"method", verb}, {"code", std::to_string(status)}}, request_buckets());
    at = s.routes.emplace(std::move(key), &made).first;
  }
  at->second->Observe(seconds_of(took));
}

void server_metrics::refresh() {
  auto& s = *series_;
  auto const since = s.waiting_since;
  auto const nobody = since == std::chrono::steady_clock::time_point::max();
  s.oldest_wait.Set(nobody ? 0 : std::chrono::duration<double>{std::chrono::steady_clock::now() - since}.count());
  if (directory_ != nullptr) s.directory.refresh(*directory_);
  s.events.set(events_());
  if (loads_ != nullptr) {
    s.under_way.Set(static_cast<double>(loads_->requests()));
    s.callers.Set(static_cast<double>(loads_->callers()));
    s.refused.Increment(static_cast<double>(loads_->refused() - std::exchange(s.refused_so_far, loads_->refused())));
  }
  std::size_t shown = 0;
  for (auto const& fleet : fleets_()) {
    if (++shown > most_fleets) break;
    auto const set = [&](char const* type, std::int32_t count) {
      s.replicas.Add({{"name", fleet.meta.name.str()}, {"namespace", fleet.meta.namespace_.str()}, {"type", type}}).Set(count);
    };
    set("desired", fleet.replicas);
    set("total", fleet.status.replicas);
    set("ready", fleet.status.ready_replicas);
    set("reserved", fleet.status.reserved_replicas);
    set("allocated", fleet.status.allocated_replicas);
  }
  for (auto const& [name, problem] : probes_->results()) s.health.Add({{"check", name}}).Set(problem.empty() ? 0 : 1);
}

void server_metrics::handle(agones_alloc::http_request const& request, reply done) {
  agones_alloc::http_response out;
  if (request.method != "GET" && request.method != "HEAD") {
    out = agones_alloc::text_response(405, "Method Not Allowed");
    out.headers.emplace_back("Allow", "GET, HEAD");
  } else {
    refresh();
    out.content_type = "text/plain; version=0.0.4; charset=utf-8";
    out.body = prometheus::TextSerializer{}.Serialize(series_->registry.Collect());
  }
  out.route = "metrics";
  std::move(done)(std::move(out));
}

}  // namespace agones_alloc_server
