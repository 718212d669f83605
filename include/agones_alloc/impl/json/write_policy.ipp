#pragma once

#include <agones_alloc/json/base64.hpp>
#include <agones_alloc/json/detail/write_meta.hpp>
#include <agones_alloc/json/write.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void write_value(writer& to, cluster_connection_info const& info) {
  to.open('{');
  write_member(to, "clusterName", info.cluster_name);
  write_non_empty(to, "allocationEndpoints", info.allocation_endpoints);
  write_member(to, "secretName", info.secret_name);
  write_member(to, "namespace", info.namespace_);
  if (!info.server_ca.empty()) {
    to.key("serverCa");
    to.text(encode_base64(info.server_ca));
  }
  to.close('}');
}

}  // namespace detail::wire

AGONES_ALLOC_DECL void append_json(std::string& out, game_server_allocation_policy const& policy) {
  detail::wire::writer to{out};
  detail::wire::open_object(to, "GameServerAllocationPolicy", "multicluster.agones.dev/v1", policy.meta,
                            policy.meta.name);
  to.key("spec");
  to.open('{');
  detail::wire::write_member(to, "priority", policy.priority);
  detail::wire::write_member(to, "weight", policy.weight);
  detail::wire::write_member(to, "connectionInfo", policy.connection_info);
  to.close('}');
  to.close('}');
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
