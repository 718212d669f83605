#pragma once

#include <agones_alloc/json/detail/writer.hpp>
#include <agones_alloc/json/time.hpp>
#include <agones_alloc/json/write_event.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void event_text(writer& to, std::string_view name, std::string_view value) {
  to.key(name);
  to.text(value);
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto to_json(kubernetes_event const& event) -> std::string {
  using detail::wire::event_text;
  auto const ns = event.about.namespace_.empty() ? std::string_view{"default"} : event.about.namespace_.view();
  return detail::wire::written([&](detail::wire::writer& to) {
    to.open('{');
    event_text(to, "kind", "Event");
    event_text(to, "apiVersion", "v1");
    to.key("metadata");
    to.open('{');
    event_text(to, "name", event.name);
    event_text(to, "namespace", ns);
    to.close('}');
    to.key("involvedObject");
    to.open('{');
    event_text(to, "kind", "GameServer");
    event_text(to, "namespace", ns);
    event_text(to, "name", event.about.name.view());
    if (!event.uid.empty()) event_text(to, "uid", event.uid.view());
    event_text(to, "apiVersion", "agones.dev/v1");
    if (!event.resource_version.empty()) event_text(to, "resourceVersion", event.resource_version.view());
    to.close('}');
    event_text(to, "reason", event.reason.view());
    event_text(to, "message", event.message);
    to.key("source");
    to.open('{');
    event_text(to, "component", event.component);
    to.close('}');
    event_text(to, "firstTimestamp", format_time(event.first));
    event_text(to, "lastTimestamp", format_time(event.last));
    to.key("count");
    to.number(event.count);
    event_text(to, "type", event.warning ? "Warning" : "Normal");
    event_text(to, "reportingComponent", event.component);
    event_text(to, "reportingInstance", "");
    to.close('}');
  });
}

AGONES_ALLOC_DECL auto count_patch(kubernetes_event const& event) -> std::string {
  return detail::wire::written([&](detail::wire::writer& to) {
    to.open('{');
    to.key("count");
    to.number(event.count);
    detail::wire::event_text(to, "lastTimestamp", format_time(event.last));
    detail::wire::event_text(to, "message", event.message);
    to.close('}');
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
