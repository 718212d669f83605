#pragma once

#include <agones_alloc/json/detail/look.hpp>
#include <agones_alloc/json/list_page.hpp>

#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto read_list_page(boost::json::value const& value) -> decoded<list_page> {
  using namespace detail::wire;
  static boost::json::array const none;
  auto const refuse = [](char const* field, char const* message) {
    return decode_error{decode_fault::type, field, message, 0, 0, 0};
  };
  auto const* const meta = member_of(&value, "metadata");
  auto const* const items = member_of(&value, "items");
  if (items == nullptr || !(items->is_array() || items->is_null())) return refuse("items", "expected an array");
  list_page out{items->is_null() ? &none : &items->get_array(), text_of(member_of(meta, "resourceVersion")),
                text_of(member_of(meta, "continue"))};
  if (out.resource_version.empty()) {
    return refuse("metadata.resourceVersion", "expected a text that is not empty");
  }
  return out;
}

AGONES_ALLOC_DECL auto read_identity(boost::json::value const& value) -> object_meta {
  using namespace detail::wire;
  auto const* const meta = member_of(&value, "metadata");
  object_meta out;
  out.name = text_of(member_of(meta, "name"));
  out.namespace_ = text_of(member_of(meta, "namespace"));
  out.uid = text_of(member_of(meta, "uid"));
  out.resource_version = text_of(member_of(meta, "resourceVersion"));
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
