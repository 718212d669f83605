#include "gate_metrics.hpp"

#include <chrono>

namespace agones_alloc_server {

namespace {

auto buckets() -> prometheus::Histogram::BucketBoundaries { return {0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300}; }

}  // namespace

gate_metrics::gate_metrics(prometheus::Registry& registry)
    : pending_{prometheus::BuildGauge()
                   .Name("agones_alloc_gate_pending")
                   .Help("Game servers that are claimed, and not ready for players yet")
                   .Register(registry)
                   .Add({})},
      ended_{prometheus::BuildCounter()
                 .Name("agones_alloc_gate_ended_total")
                 .Help("Ends of the wait for a game server: ready, timed_out, failed, abandoned, gone")
                 .Register(registry)},
      ready_{prometheus::BuildHistogram()
                 .Name("agones_alloc_gate_ready_seconds")
                 .Help("From a game server's claim to its being ready for players")
                 .Register(registry)} {}

void gate_metrics::ended(agones_alloc::gate_sample const& sample, std::string const& fleet) {
  ended_.Add({{"fleet_name", fleet}, {"end", std::string{sample.end}}}).Increment();
  if (sample.end != "ready") return;
  ready_.Add({{"fleet_name", fleet}}, buckets()).Observe(std::chrono::duration<double>{sample.took}.count());
}

}  // namespace agones_alloc_server
