// Kubernetes Events (core v1) about game servers.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/meta.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// One Event as it is written.
struct kubernetes_event {
  std::string name;
  object_key about;  ///< the game server; the Event lives in its namespace
  shared_string uid;
  shared_string resource_version;
  bool warning{false};
  shared_string reason;
  std::string message;
  std::string component;  ///< who tells it
  timestamp first{unset_time};
  timestamp last{unset_time};
  std::int64_t count{1};
};

/// The document to POST.
AGONES_ALLOC_DECL auto to_json(kubernetes_event const&) -> std::string;
/// The merge patch that sets count, last time and message.
AGONES_ALLOC_DECL auto count_patch(kubernetes_event const&) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/write_event.ipp>
#endif
