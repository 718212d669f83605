#pragma once

#include <agones_alloc/embedded/fleet_settings.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/model/policy.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {
namespace detail {

/// Takes a field path and what is wrong with it.
using complain = std::function<void(std::string path, std::string message)>;

/// Letters, digits and `-`, and `.` where `dots` allows; begins and ends with a letter or digit.
inline auto is_dns_name(std::string_view name, std::size_t longest, bool dots) noexcept -> bool {
  auto const alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > longest || !alphanumeric(name.front()) || !alphanumeric(name.back())) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return alphanumeric(c) || c == '-' || (dots && c == '.'); });
}

inline auto quoted(std::string_view text) -> std::string { return go_quoted(text.substr(0, 64)); }

inline void check_meta(object_meta const& meta, std::size_t longest_name, complain const& add) {
  if (meta.name.empty()) {
    add("metadata.name", "is missing");
  } else if (!is_dns_name(meta.name, longest_name, longest_name > 63)) {
    add("metadata.name", quoted(meta.name) + " is no DNS name of at most " + std::to_string(longest_name) +
                             " lower-case letters, digits and dashes");
  }
  if (!is_dns_name(meta.namespace_, 63, false)) {
    add("metadata.namespace",
        quoted(meta.namespace_) + " is no DNS name of at most 63 lower-case letters, digits and dashes");
  }
  field_errors errors;
  static_cast<void>(settings_from(meta.annotations, {}, errors));
  for (auto const& error : errors) add(error.field, error.value + " " + error.detail);
}

inline void check_word(std::string_view word, std::initializer_list<std::string_view> known, std::string path,
                       complain const& add) {
  if (word.empty() || std::find(known.begin(), known.end(), word) != known.end()) return;
  std::string list;
  for (auto const& each : known) list += (list.empty() ? "" : ", ") + std::string{each};
  add(std::move(path), quoted(word) + " is none of " + list);
}

inline void check_port_number(std::int32_t port, bool required, std::string path, complain const& add) {
  if (port == 0 && !required) return;
  if (port < 1 || port > 65535) add(std::move(path), std::to_string(port) + " is no port: 1 to 65535");
}

/// What a simulated server takes out of a GameServer's spec.
inline void check_shape(game_server_template const& shape, std::string const& path, complain const& add) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < shape.ports.size(); ++i) {
    auto const& port = shape.ports[i];
    auto const at = path + ".ports[" + std::to_string(i) + "]";
    check_word(port.port_policy, {"Dynamic", "Static", "Passthrough", "None"}, at + ".portPolicy", add);
    check_word(port.protocol, {"UDP", "TCP", "TCPUDP"}, at + ".protocol", add);
    check_port_number(port.container_port, false, at + ".containerPort", add);
    check_port_number(port.host_port, port.port_policy == "Static", at + ".hostPort", add);
    if (!port.name.empty() && !names.insert(port.name.view()).second)
      add(at + ".name", quoted(port.name) + " is given twice");
  }
  if (shape.ports.size() > 100) add(path + ".ports", "more than 100 ports");
  for (auto const& [name, counter] : shape.counters) {
    auto const at = path + ".counters[" + name.str() + "]";
    if (counter.count < 0) add(at + ".count", "must not be negative");
    if (counter.capacity < 0) add(at + ".capacity", "must not be negative");
    if (counter.count >= 0 && counter.capacity >= 0 && counter.count > counter.capacity) {
      add(at + ".count",
          std::to_string(counter.count) + " is more than its capacity, " + std::to_string(counter.capacity));
    }
  }
  for (auto const& [name, list] : shape.lists) {
    auto const at = path + ".lists[" + name.str() + "]";
    if (list.capacity < 0 || list.capacity > 1000)
      add(at + ".capacity", std::to_string(list.capacity) + " is not between 0 and 1000");
    else if (list.count() > list.capacity) {
      add(at + ".values",
          std::to_string(list.count()) + " values are more than its capacity, " + std::to_string(list.capacity));
    }
    std::set<std::string_view> values;
    for (std::size_t i = 0; list.values && i < list.values->size(); ++i) {
      auto const& value = (*list.values)[i];
      if (!values.insert(value.view()).second)
        add(at + ".values[" + std::to_string(i) + "]", quoted(value) + " is given twice");
    }
  }
}

inline void check_fleet(fleet const& f, std::int32_t max_replicas, complain const& add) {
  check_meta(f.meta, 63, add);
  if (f.replicas < 0) add("spec.replicas", std::to_string(f.replicas) + " must not be negative");
  if (f.replicas > max_replicas)
    add("spec.replicas", std::to_string(f.replicas) + " is more than " + std::to_string(max_replicas));
  check_word(f.scheduling, {"Packed", "Distributed"}, "spec.scheduling", add);
  for (std::size_t i = 0; i < f.priorities.size(); ++i) {
    auto const at = "spec.priorities[" + std::to_string(i) + "]";
    auto const& p = f.priorities[i];
    if (p.type.empty()) add(at + ".type", "is missing");
    check_word(p.type, {"Counter", "List"}, at + ".type", add);
    check_word(p.order, {"Ascending", "Descending"}, at + ".order", add);
    if (p.key.empty()) add(at + ".key", "is missing");
  }
  check_shape(f.server_template, "spec.template.spec", add);
}

inline void check_game_server(game_server const& server, game_server_template const& shape, complain const& add) {
  check_meta(server.meta, 253, add);
  check_shape(shape, "spec", add);
  if (server.status.state == game_server_state::other) add("status.state", "is no state of a game server");
  for (std::size_t i = 0; i < server.status.ports.size(); ++i) {
    check_port_number(server.status.ports[i].port, true, "status.ports[" + std::to_string(i) + "].port", add);
  }
}

inline void check_policy(game_server_allocation_policy const& policy, complain const& add) {
  check_meta(policy.meta, 253, add);
  if (policy.priority < 0) add("spec.priority", std::to_string(policy.priority) + " must not be negative");
  if (policy.weight < 0) add("spec.weight", std::to_string(policy.weight) + " must not be negative");
}

/// The parts of a Fleet's or GameServer's spec that are there but that no simulation acts on.
inline auto kept_only(boost::json::value const& object, bool is_fleet) -> std::string {
  std::string out;
  auto const look = [&out](boost::json::object const& at, std::string const& path,
                           std::initializer_list<std::string_view> fields) {
    for (auto const field : fields) {
      if (at.contains(boost::json::string_view{field.data(), field.size()}))
        out += (out.empty() ? "" : ", ") + path + "." + std::string{field};
    }
  };
  auto const inside = [](boost::json::object const* at, char const* key) -> boost::json::object const* {
    auto const* found = at == nullptr ? nullptr : at->if_contains(key);
    return found == nullptr ? nullptr : found->if_object();
  };
  auto const* spec = inside(object.if_object(), "spec");
  if (spec == nullptr) return out;
  std::string path = "spec";
  if (is_fleet) {
    look(*spec, path, {"strategy"});
    spec = inside(inside(spec, "template"), "spec");
    path = "spec.template.spec";
  }
  if (spec != nullptr)
    look(*spec, path, {"container", "health", "scheduling", "sdkServer", "eviction", "immutableReplicas", "template"});
  return out;
}

}  // namespace detail
}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
