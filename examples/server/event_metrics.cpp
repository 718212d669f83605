#include "event_metrics.hpp"

#include <cstdint>

namespace agones_alloc_server {

namespace {

void raise_to(prometheus::Counter& counter, std::uint64_t value) {
  if (auto const more = static_cast<double>(value) - counter.Value(); more > 0) counter.Increment(more);
}

}  // namespace

event_metrics::event_metrics(prometheus::Registry& registry)
    : events_{prometheus::BuildCounter()
                  .Name("agones_alloc_events_total")
                  .Help("Events for each sink: offered, and of these sent, refused by the sink, merged into another event of their "
                        "object, dropped because the queue was full")
                  .Register(registry)},
      retries_{prometheus::BuildCounter()
                   .Name("agones_alloc_event_retries_total")
                   .Help("Deliveries of events that were sent again")
                   .Register(registry)},
      waiting_{prometheus::BuildGauge().Name("agones_alloc_events_waiting").Help("Events that wait to be sent").Register(registry)},
      bytes_{prometheus::BuildGauge()
                 .Name("agones_alloc_events_waiting_bytes")
                 .Help("Estimated memory that waiting events hold")
                 .Register(registry)},
      in_flight_{prometheus::BuildGauge()
                     .Name("agones_alloc_events_in_flight")
                     .Help("Events that were sent and not answered, or are about to be sent again")
                     .Register(registry)},
      failing_{prometheus::BuildGauge()
                   .Name("agones_alloc_event_sink_failing")
                   .Help("1 while deliveries to the sink do not arrive")
                   .Register(registry)} {}

void event_metrics::set(std::vector<agones_alloc::event_channel_counts> const& all) {
  for (auto const& [name, of] : all) {
    auto const count = [&, &sink = name](char const* result, std::uint64_t value) {
      raise_to(events_.Add({{"sink", sink}, {"result", result}}), value);
    };
    count("offered", of.offered);
    count("sent", of.sent);
    count("refused", of.refused);
    count("merged", of.merged);
    count("dropped", of.dropped);
    raise_to(retries_.Add({{"sink", name}}), of.retries);
    waiting_.Add({{"sink", name}}).Set(static_cast<double>(of.waiting));
    bytes_.Add({{"sink", name}}).Set(static_cast<double>(of.waiting_bytes));
    in_flight_.Add({{"sink", name}}).Set(static_cast<double>(of.in_flight));
    failing_.Add({{"sink", name}}).Set(of.failing ? 1 : 0);
  }
}

}  // namespace agones_alloc_server
