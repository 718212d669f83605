// ObjectMeta in Kubernetes' order (spec 1.2).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/write_members.hpp>
#include <agones_alloc/json/time.hpp>
#include <agones_alloc/model/meta.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

inline void write_value(writer& to, timestamp time) {
  auto const text = format_time(time);
  if (text.empty()) return to.raw("null");
  to.text(text);
}

/// `name` may be that of another object: an allocation's answer carries its server's name.
inline void write_meta(writer& to, object_meta const& meta, shared_string const& name) {
  auto const* extra = meta.extra.get();
  to.open('{');
  write_non_empty(to, "name", name);
  if (extra != nullptr) write_non_empty(to, "generateName", extra->generate_name);
  write_non_empty(to, "namespace", meta.namespace_);
  if (extra != nullptr) write_non_empty(to, "selfLink", extra->self_link);
  write_non_empty(to, "uid", meta.uid);
  write_non_empty(to, "resourceVersion", meta.resource_version);
  write_non_zero(to, "generation", meta.generation);
  write_member(to, "creationTimestamp", meta.creation_timestamp);
  if (meta.deletion_timestamp != unset_time) write_member(to, "deletionTimestamp", meta.deletion_timestamp);
  if (extra != nullptr) write_present(to, "deletionGracePeriodSeconds", extra->deletion_grace_period_seconds);
  write_non_empty(to, "labels", meta.labels);
  write_non_empty(to, "annotations", meta.annotations);
  if (extra != nullptr) {
    if (!extra->owner_references.empty()) {
      to.key("ownerReferences");
      to.raw(extra->owner_references);
    }
    write_non_empty(to, "finalizers", extra->finalizers);
    if (!extra->managed_fields.empty()) {
      to.key("managedFields");
      to.raw(extra->managed_fields);
    }
  }
  to.close('}');
}

inline void write_value(writer& to, object_meta const& meta) { write_meta(to, meta, meta.name); }

/// `{"kind":...,"apiVersion":...,"metadata":{...}`, left open.
inline void open_object(writer& to, std::string_view kind, std::string_view api_version, object_meta const& meta,
                        shared_string const& name) {
  to.open('{');
  to.key("kind");
  to.text(kind);
  to.key("apiVersion");
  to.text(api_version);
  to.key("metadata");
  write_meta(to, meta, name);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
