// ObjectMeta (spec 1.2).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/read_members.hpp>
#include <agones_alloc/json/detail/type_check.hpp>
#include <agones_alloc/json/time.hpp>
#include <agones_alloc/model/meta.hpp>

#include <boost/json/serialize.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

inline void read_value(reader& in, place const& at, boost::json::value const& value, timestamp& out) {
  std::string_view text;
  read_value(in, at, value, text);
  if (!in.ok()) return;
  if (auto const time = parse_time(text)) {
    out = *time;
  } else {
    in.fail(decode_fault::type, at, "expected an RFC 3339 time, got \"" + std::string{text.substr(0, 64)} + "\"");
  }
}

/// An array that is kept as text.
struct array_text {
  shared_string& text;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, array_text const& out) {
  if (!value.is_array()) return in.expected(at, "an array", value);
  if (!value.get_array().empty()) out.text = shared_string{boost::json::serialize(value)};
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, object_meta& out) {
  meta_extra extra;
  array_text const owners{extra.owner_references};
  array_text const managers{extra.managed_fields};
  read_members(in, at, value, field{"name", out.name}, field{"generateName", extra.generate_name},
               field{"namespace", out.namespace_}, field{"selfLink", extra.self_link}, field{"uid", out.uid},
               field{"resourceVersion", out.resource_version}, field{"generation", out.generation},
               field{"creationTimestamp", out.creation_timestamp}, field{"deletionTimestamp", out.deletion_timestamp},
               field{"deletionGracePeriodSeconds", extra.deletion_grace_period_seconds}, field{"labels", out.labels},
               field{"annotations", out.annotations}, field{"ownerReferences", owners},
               field{"finalizers", extra.finalizers}, field{"managedFields", managers});
  if (in.ok() && extra != meta_extra{}) out.extra = std::make_shared<meta_extra const>(std::move(extra));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
