#include "cluster_metrics.hpp"

#include <chrono>

namespace agones_alloc_server {

namespace {

constexpr std::size_t most_names = 200;

auto duration_buckets() -> prometheus::Histogram::BucketBoundaries { return {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30}; }

}  // namespace

auto cluster_metrics::bounded_names::operator()(std::string_view name) -> std::string {
  if (known_.find(name) == known_.end()) {
    if (known_.size() >= most_names) return "other";
    known_.emplace(name);
  }
  return std::string{name};
}

cluster_metrics::cluster_metrics(prometheus::Registry& registry)
    : calls_{prometheus::BuildCounter()
                 .Name("agones_alloc_cluster_calls_total")
                 .Help("Calls to other clusters by outcome")
                 .Register(registry)},
      durations_{prometheus::BuildHistogram()
                     .Name("agones_alloc_cluster_call_duration_seconds")
                     .Help("How long calls to other clusters took")
                     .Register(registry)},
      open_{prometheus::BuildGauge()
                .Name("agones_alloc_cluster_breaker_open")
                .Help("1 while an endpoint is left alone because it does not answer")
                .Register(registry)},
      reads_{prometheus::BuildCounter()
                 .Name("agones_alloc_credential_reads_total")
                 .Help("Readings of client certificates for other clusters")
                 .Register(registry)} {}

void cluster_metrics::call(agones_alloc::cluster_call_sample const& sample) {
  auto const cluster = clusters_(sample.cluster);
  auto const endpoint = endpoints_(sample.endpoint);
  calls_.Add({{"cluster", cluster}, {"endpoint", endpoint}, {"outcome", std::string{to_string(sample.result)}}}).Increment();
  durations_.Add({{"cluster", cluster}, {"endpoint", endpoint}}, duration_buckets())
      .Observe(std::chrono::duration<double>{sample.took}.count());
}

void cluster_metrics::breaker(std::string_view cluster, std::string_view endpoint, bool open) {
  open_.Add({{"cluster", clusters_(cluster)}, {"endpoint", endpoints_(endpoint)}}).Set(open ? 1 : 0);
}

void cluster_metrics::credentials_read(std::string_view name, bool good) {
  reads_.Add({{"secret", secrets_(name)}, {"result", good ? "good" : "bad"}}).Increment();
}

auto cluster_metrics::cluster_label(std::string_view name) -> std::string {
  return name.empty() ? std::string{"local"} : clusters_(name);
}

}  // namespace agones_alloc_server
