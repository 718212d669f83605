// kind and apiVersion of a document (Q21).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/detail/reader.hpp>

#include <boost/json/value.hpp>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

/// The error of a document whose kind or apiVersion is another type's; absent ones are fine.
inline auto wrong_type(boost::json::value const& value, std::string_view kind,
                       std::initializer_list<std::string_view> api_versions) -> std::optional<decode_error> {
  auto const* object = value.if_object();
  if (object == nullptr) return std::nullopt;
  auto const check = [&](std::string_view name,
                         std::initializer_list<std::string_view> wanted) -> std::optional<decode_error> {
    auto const* got = object->if_contains(name);
    if (got == nullptr || got->is_null()) return std::nullopt;
    auto const text = got->is_string() ? std::string_view{got->get_string()} : json_kind_name(*got);
    if (got->is_string() && (text.empty() || std::find(wanted.begin(), wanted.end(), text) != wanted.end()))
      return std::nullopt;
    return decode_error{decode_fault::kind,
                        std::string{name},
                        "expected " + std::string{*wanted.begin()} + ", got " + std::string{text.substr(0, 64)},
                        0,
                        0,
                        0};
  };
  if (auto wrong = check("kind", {kind})) return wrong;
  return check("apiVersion", api_versions);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
