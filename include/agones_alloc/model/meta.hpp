// ObjectMeta as Kubernetes writes it (spec 1.2).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/shared_string.hpp>
#include <agones_alloc/model/string_map.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// metav1.Time: whole seconds, UTC.
using timestamp = std::chrono::sys_time<std::chrono::seconds>;
/// The zero value of metav1.Time; prints as `null`.
inline constexpr timestamp unset_time = timestamp::min();

/// Fields of ObjectMeta that allocation never reads and most objects share or lack.
struct meta_extra {
  shared_string generate_name;
  shared_string self_link;
  std::optional<std::int64_t> deletion_grace_period_seconds;
  std::vector<shared_string> finalizers;
  shared_string owner_references;  ///< JSON array text, "" when absent
  shared_string managed_fields;    ///< JSON array text, "" when absent

  friend auto operator==(meta_extra const&, meta_extra const&) -> bool = default;
};

struct object_meta {
  shared_string name;
  shared_string namespace_;
  shared_string uid;
  shared_string resource_version;  ///< opaque on the wire; ordered by the store's watch
  std::int64_t generation{0};
  timestamp creation_timestamp{unset_time};
  timestamp deletion_timestamp{unset_time};  ///< unset_time: not being deleted
  string_map labels;
  string_map annotations;
  std::shared_ptr<meta_extra const> extra;  ///< null when all of it is absent

  friend auto operator==(object_meta const& a, object_meta const& b) -> bool {
    return a.name == b.name && a.namespace_ == b.namespace_ && a.uid == b.uid && a.resource_version == b.resource_version &&
           a.generation == b.generation && a.creation_timestamp == b.creation_timestamp &&
           a.deletion_timestamp == b.deletion_timestamp && a.labels == b.labels && a.annotations == b.annotations &&
           (a.extra == b.extra || (a.extra && b.extra && *a.extra == *b.extra));
  }
};

/// Namespace and name: what identifies an object of one kind in one cluster.
struct object_key {
  shared_string namespace_;
  shared_string name;

  friend auto operator==(object_key const&, object_key const&) -> bool = default;
  friend auto operator<=>(object_key const&, object_key const&) = default;
};

inline auto key_of(object_meta const& meta) -> object_key { return {meta.namespace_, meta.name}; }

/// `<namespace>/<name>`, or just `<name>` where the namespace is empty (spec 4).
inline auto to_string(object_key const& key) -> std::string {
  return key.namespace_.empty() ? key.name.str() : key.namespace_.str() + "/" + key.name.str();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
