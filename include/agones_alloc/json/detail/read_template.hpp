// spec.template of a fleet: what a simulated server is made of (spec 1.5).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/read_meta.hpp>
#include <agones_alloc/json/detail/read_status.hpp>
#include <agones_alloc/json/quantity.hpp>
#include <agones_alloc/model/fleet.hpp>

#include <boost/json/serialize.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

inline constexpr std::int64_t default_template_capacity = 1000;  // the CRD's

inline void read_value(reader& in, place const& at, boost::json::value const& value, game_server_port_template& out) {
  // `range` and `container` steer real scheduling only.
  read_members(in, at, value, field{"name", out.name}, field{"portPolicy", out.port_policy},
               field{"protocol", out.protocol}, field{"containerPort", out.container_port},
               field{"hostPort", out.host_port}, skip("range"), skip("container"));
}

/// Counters and lists of a template start from the CRD's default capacity.
template <class Status>
struct with_default_capacity {
  named_map<Status>& target;
};
template <class Status>
void read_value(reader& in, place const& at, boost::json::value const& value,
                with_default_capacity<Status> const& out) {
  read_value(in, at, value, out.target);
  if (!in.ok()) return;
  for (auto& [name, status] : out.target) {
    auto const* member = value.get_object().if_contains(name.view());
    auto const* object = member == nullptr ? nullptr : member->if_object();
    auto const* capacity = object == nullptr ? nullptr : object->if_contains("capacity");
    if (capacity == nullptr || capacity->is_null()) status.capacity = default_template_capacity;
  }
}

struct initial_capacity {
  std::optional<std::int64_t>& target;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, initial_capacity const& out) {
  read_members(in, at, value, field{"initialCapacity", out.target});
}

/// A GameServer's spec, its `template` (the pod) kept as text.
struct template_spec {
  game_server_template& made;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, template_spec const& out) {
  with_default_capacity<counter_status> const counters{out.made.counters};
  with_default_capacity<list_status> const lists{out.made.lists};
  initial_capacity const players{out.made.players_initial_capacity};
  read_members(in, at, value, field{"ports", out.made.ports}, field{"counters", counters}, field{"lists", lists},
               field{"players", players}, skip("container"), skip("health"), skip("scheduling"), skip("sdkServer"),
               skip("template"), skip("eviction"), skip("immutableReplicas"));
  if (!in.ok()) return;
  out.made.spec = shared_string{boost::json::serialize(value)};
  if (!in.options().check_quantities) return;
  if (auto problem = check_pod_quantities(value, at.text())) in.fail(*std::move(problem));
}

struct template_meta {
  game_server_template& made;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, template_meta const& out) {
  object_meta meta;  // a manifest of a single server names it here too
  read_value(in, at, value, meta);
  out.made.labels = meta.labels;
  out.made.annotations = meta.annotations;
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, game_server_template& out) {
  template_meta const meta{out};
  template_spec const spec{out};
  read_members(in, at, value, skip("kind"), skip("apiVersion"), field{"metadata", meta}, field{"spec", spec},
               skip("status"));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
