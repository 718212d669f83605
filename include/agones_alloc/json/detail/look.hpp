// A look at one member, whatever the rest of the document is.
#pragma once

#include <agones_alloc/config.hpp>

#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

/// Null where `value` is null, no object, or without that member.
inline auto member_of(boost::json::value const* value, std::string_view name) noexcept -> boost::json::value const* {
  auto const* const object = value == nullptr ? nullptr : value->if_object();
  return object == nullptr ? nullptr : object->if_contains(name);
}

/// "" where `value` is null or no string.
inline auto text_of(boost::json::value const* value) noexcept -> std::string_view {
  auto const* const text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string_view{} : std::string_view{*text};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
