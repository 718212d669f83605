#pragma once

#include <agones_alloc/json/base64.hpp>
#include <agones_alloc/json/detail/read_meta.hpp>
#include <agones_alloc/json/read_policy.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

/// Bytes in base64 (the field itself stays a shared_string).
struct base64_bytes {
  shared_string& bytes;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, base64_bytes const& out) {
  std::string_view text;
  read_value(in, at, value, text);
  if (!in.ok()) return;
  if (auto const bytes = decode_base64(text)) {
    out.bytes = shared_string{*bytes};
  } else {
    in.fail(decode_fault::type, at, "expected standard base64 with padding");
  }
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, cluster_connection_info& out) {
  base64_bytes const ca{out.server_ca};
  read_members(in, at, value, field{"clusterName", out.cluster_name},
               field{"allocationEndpoints", out.allocation_endpoints}, field{"secretName", out.secret_name},
               field{"namespace", out.namespace_}, field{"serverCa", ca});
}

struct policy_spec {
  game_server_allocation_policy& policy;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, policy_spec const& out) {
  read_members(in, at, value, field{"priority", out.policy.priority}, field{"weight", out.policy.weight},
               field{"connectionInfo", out.policy.connection_info});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value,
                       game_server_allocation_policy& out) {
  policy_spec const spec{out};
  read_members(in, at, value, skip("kind"), skip("apiVersion"), field{"metadata", out.meta}, field{"spec", spec});
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto read_game_server_allocation_policy(boost::json::value const& value,
                                                          json_read_options const& options)
    -> decoded<game_server_allocation_policy> {
  if (auto wrong = detail::wire::wrong_type(value, "GameServerAllocationPolicy",
                                            {"multicluster.agones.dev/v1", "multicluster.agones.dev/v1alpha1"})) {
    return *std::move(wrong);
  }
  return detail::wire::run_reader<game_server_allocation_policy>(
      options, [&](detail::wire::reader& in, detail::wire::place const& at, auto& out) {
        detail::wire::read_value(in, at, value, out);
      });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
