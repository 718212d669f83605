// ObjectMeta and TypeMeta (spec 1.2).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/reader.hpp>
#include <agones_alloc/json/time.hpp>
#include <agones_alloc/model/meta.hpp>

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

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
               field{"annotations", out.annotations}, field{"ownerReferences", owners}, field{"finalizers", extra.finalizers},
               field{"managedFields", managers});
  if (in.ok() && extra != meta_extra{}) out.extra = std::make_shared<meta_extra const>(std::move(extra));
}

/// The error of a document whose kind or apiVersion is another type's; absent ones are fine.
inline auto wrong_type(boost::json::value const& value, std::string_view kind,
                       std::initializer_list<std::string_view> api_versions) -> std::optional<decode_error> {
  auto const* object = value.if_object();
  if (object == nullptr) return std::nullopt;
  auto const check = [&](std::string_view name, std::initializer_list<std::string_view> wanted) -> std::optional<decode_error> {
    auto const* got = object->if_contains(name);
    if (got == nullptr || got->is_null()) return std::nullopt;
    auto const text = got->is_string() ? std::string_view{got->get_string()} : json_kind_name(*got);
    if (got->is_string() && (text.empty() || std::find(wanted.begin(), wanted.end(), text) != wanted.end())) return std::nullopt;
    return decode_error{decode_fault::kind, std::string{name},
                        "expected " + std::string{*wanted.begin()} + ", got " + std::string{text.substr(0, 64)}, 0, 0, 0};
  };
  if (auto wrong = check("kind", {kind})) return wrong;
  return check("apiVersion", api_versions);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
