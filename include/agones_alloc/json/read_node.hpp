// Node from JSON.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/read_options.hpp>
#include <agones_alloc/model/cluster_node.hpp>

#include <boost/json/value.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// `metadata`, `spec.unschedulable` and `spec.taints`; all else is left aside.
AGONES_ALLOC_DECL auto read_cluster_node(boost::json::value const&, json_read_options const& = {})
    -> decoded<cluster_node>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/read_node.ipp>
#endif
