#pragma once

#include <agones_alloc/json/cloud_event.hpp>
#include <agones_alloc/json/detail/writer.hpp>
#include <agones_alloc/json/time.hpp>
#include <agones_alloc/json/write.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto event_time_text(object_event::wall_time at) -> std::string {
  auto const whole = std::chrono::floor<std::chrono::seconds>(at);
  auto out = format_time(whole);
  if (out.empty()) return out;
  auto const millis = std::chrono::duration_cast<std::chrono::milliseconds>(at - whole).count();
  auto const digits = std::to_string(1000 + millis);
  out.replace(out.size() - 1, 1, "." + digits.substr(1) + "Z");
  return out;
}

inline auto event_key_text(object_event const& event) -> std::string {
  auto const& meta = event.meta();
  return meta.uid.empty() ? to_string(key_of(meta)) : meta.uid.str();
}

/// `each(name, value)` for every attribute but specversion, datacontenttype and those that are numbers.
template <class Each>
void each_event_attribute(object_event const& event, std::string_view source, Each each) {
  auto const& meta = event.meta();
  each("id", std::string_view{cloud_event_id(event)});
  each("source", source);
  each("type", cloud_event_type(event.kind(), event.what));
  each("subject", std::string_view{to_string(key_of(meta))});
  each("time", std::string_view{event_time_text(event.at)});
  each("dataschema", event.server ? std::string_view{"https://agones-alloc.dev/schemas/v1/GameServer"}
                                  : std::string_view{"https://agones-alloc.dev/schemas/v1/Fleet"});
  each("partitionkey", std::string_view{event_key_text(event)});
  if (!event.revision.empty()) each("resourceversion", event.revision.view());
  if (!event.server) return;
  if (auto const fleet_name = meta.labels.find(keys::fleet_label)) each("fleet", *fleet_name);
  if (event.before && *event.before != game_server_state::unset) each("previousstate", to_string(*event.before));
}

template <class Object>
auto without_managed_fields(Object const& object) -> Object {
  auto out = object;
  if (out.meta.extra && !out.meta.extra->managed_fields.empty()) {
    auto extra = std::make_shared<meta_extra>(*out.meta.extra);
    extra->managed_fields = {};
    out.meta.extra = std::move(extra);
  }
  return out;
}

/// As the HTTP binding has it: what is not a visible ASCII character, and '"' and '%', as %XX.
inline auto event_header_value(std::string_view text) -> std::string {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '"' && c != '%') {
      out += c;
    } else {
      out += '%';
      out += digits[byte >> 4U];
      out += digits[byte & 0xfU];
    }
  }
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL auto cloud_event_id(object_event const& event) -> std::string {
  auto out = detail::event_key_text(event);
  if (event.what != object_change::deleted) {
    out += '.';
    out += event.revision.view();
  }
  out += '.';
  out += to_string(event.what);
  return out;
}

AGONES_ALLOC_DECL auto cloud_event_type(object_kind kind, object_change what) noexcept -> std::string_view {
  static constexpr std::array<std::array<std::string_view, 5>, 2> types{
      {{"dev.agones-alloc.gameserver.added", "dev.agones-alloc.gameserver.updated", "dev.agones-alloc.gameserver.deleted",
        "dev.agones-alloc.gameserver.allocated", "dev.agones-alloc.gameserver.released"},
       {"dev.agones-alloc.fleet.added", "dev.agones-alloc.fleet.updated", "dev.agones-alloc.fleet.deleted",
        "dev.agones-alloc.fleet.allocated", "dev.agones-alloc.fleet.released"}}};
  return types[static_cast<std::size_t>(kind)][static_cast<std::size_t>(what)];
}

AGONES_ALLOC_DECL auto cloud_event_data(object_event const& event) -> std::string {
  return event.server ? to_json(detail::without_managed_fields(*event.server))
                      : to_json(detail::without_managed_fields(*event.fleet_object));
}

AGONES_ALLOC_DECL void append_cloud_event(std::string& out, object_event const& event, std::string_view source) {
  detail::wire::writer to{out};
  auto const put = [&to](std::string_view name, std::string_view value) {
    to.key(name);
    to.text(value);
  };
  to.open('{');
  put("specversion", "1.0");
  detail::each_event_attribute(event, source, put);
  put("datacontenttype", "application/json");
  if (event.merged > 0) {
    // The type Integer of the specification has 32 bits.
    to.key("merged");
    to.number(static_cast<std::int64_t>(std::min<std::uint64_t>(event.merged, 0x7fffffff)));
  }
  to.key("data");
  to.raw(cloud_event_data(event));
  to.close('}');
}

AGONES_ALLOC_DECL auto cloud_event_batch(event_batch const& batch, std::string_view source) -> std::string {
  std::string out = "[";
  for (auto const& event : batch.events) {
    if (out.size() > 1) out += ',';
    append_cloud_event(out, event, source);
  }
  out += ']';
  return out;
}

AGONES_ALLOC_DECL auto cloud_event_headers(object_event const& event, std::string_view source)
    -> std::vector<std::pair<std::string, std::string>> {
  std::vector<std::pair<std::string, std::string>> out;
  auto const put = [&out](std::string_view name, std::string_view value) {
    out.emplace_back("ce-" + std::string{name}, detail::event_header_value(value));
  };
  put("specversion", "1.0");
  detail::each_event_attribute(event, source, put);
  if (event.merged > 0) put("merged", std::to_string(std::min<std::uint64_t>(event.merged, 0x7fffffff)));
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
