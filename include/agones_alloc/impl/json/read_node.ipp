#pragma once

#include <agones_alloc/json/detail/read_meta.hpp>
#include <agones_alloc/json/read_node.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void read_value(reader& in, place const& at, boost::json::value const& value, node_taint& out) {
  read_members(in, at, value, field{"key", out.key}, field{"value", out.value}, field{"effect", out.effect},
               skip("timeAdded"));
}

struct node_spec {
  cluster_node& node;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, node_spec const& out) {
  read_members(in, at, value, field{"unschedulable", out.node.unschedulable}, field{"taints", out.node.taints});
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto read_cluster_node(boost::json::value const& value, json_read_options const& options)
    -> decoded<cluster_node> {
  if (auto wrong = detail::wire::wrong_type(value, "Node", {"v1"})) return *std::move(wrong);
  return detail::wire::run_reader<cluster_node>(
      options, [&](detail::wire::reader& in, detail::wire::place const& at, cluster_node& out) {
        detail::wire::node_spec const spec{out};
        detail::wire::read_members(in, at, value, detail::wire::skip("kind"), detail::wire::skip("apiVersion"),
                                   detail::wire::field{"metadata", out.meta}, detail::wire::field{"spec", spec},
                                   detail::wire::skip("status"));
      });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
