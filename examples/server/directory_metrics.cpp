#include "directory_metrics.hpp"

#include "fleet_serving.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace agones_alloc_server {

namespace {

constexpr std::size_t most_clusters = 200;  // policies name them

auto gauge(prometheus::Registry& in, char const* name, char const* help) -> prometheus::Gauge& {
  return prometheus::BuildGauge().Name(std::string{"agones_alloc_directory_"} + name).Help(help).Register(in).Add({});
}

auto counter(prometheus::Registry& in, char const* name, char const* help) -> prometheus::Counter& {
  return prometheus::BuildCounter().Name(std::string{"agones_alloc_directory_"} + name).Help(help).Register(in).Add({});
}

void raise(prometheus::Counter& to, std::uint64_t value) { to.Increment(static_cast<double>(value) - to.Value()); }

}  // namespace

directory_metrics::directory_metrics(prometheus::Registry& registry)
    : fleets_{gauge(registry, "fleets", "Fleets that are known, of all clusters")},
      servers_{gauge(registry, "gameservers", "Game servers of this cluster that are counted")},
      streams_{gauge(registry, "streams", "Streams of fleets that are open")},
      opened_{counter(registry, "streams_opened_total", "Streams of fleets that were opened")},
      refused_{counter(registry, "streams_refused_total", "Streams of fleets that were refused because there are too many")},
      events_{counter(registry, "stream_events_total", "Events that were written for streams; what several are told counts once")},
      bytes_{counter(registry, "stream_bytes_total", "Bytes that streams were told")},
      resets_{counter(registry, "stream_resets_total", "Streams that had to be told everything anew")},
      publications_{counter(registry, "publications_total", "How often changes were published to streams")},
      stale_{prometheus::BuildGauge()
                 .Name("agones_alloc_directory_cluster_stale")
                 .Help("1 while a cluster is not heard, and what is told of its fleets are the last values")
                 .Register(registry)} {}

void directory_metrics::refresh(fleet_serving const& from) {
  auto const known = from.directory().statistics();
  auto const streams = from.streams();
  fleets_.Set(static_cast<double>(known.fleets));
  servers_.Set(static_cast<double>(known.servers));
  streams_.Set(static_cast<double>(streams.open));
  raise(opened_, streams.opened);
  raise(refused_, streams.refused);
  raise(events_, streams.events);
  raise(bytes_, streams.bytes);
  raise(resets_, streams.resets);
  raise(publications_, known.publications);
  show_clusters(from);
}

void directory_metrics::show_clusters(fleet_serving const& from) {
  std::map<std::string, prometheus::Gauge*> now;
  for (auto const& cluster : from.directory().snapshot({}, std::nullopt, 0).clusters) {
    if (now.size() == most_clusters) break;
    auto name = cluster->name.str();
    auto& gauge = stale_.Add({{"cluster", name}});
    gauge.Set(cluster->stale ? 1 : 0);
    now.emplace(std::move(name), &gauge);
  }
  for (auto const& [name, gauge] : clusters_) {
    if (!now.contains(name)) stale_.Remove(gauge);
  }
  clusters_.swap(now);
}

}  // namespace agones_alloc_server
