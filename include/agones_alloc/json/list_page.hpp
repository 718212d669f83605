// One answer to a list: a page of objects, and how to go on.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/model/meta.hpp>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Points into the value it was read from.
struct list_page {
  boost::json::array const* items{nullptr};  ///< never null in what the reader returns
  std::string_view resource_version;         ///< where a watch begins
  std::string_view continue_token;           ///< "" on the last page
};

/// A list of whatever kind. The items are not looked at; `null` is an empty array.
AGONES_ALLOC_DECL auto read_list_page(boost::json::value const&) -> decoded<list_page>;

/// Name, namespace, uid and resource version, as far as they are there: of an object that cannot be read otherwise.
AGONES_ALLOC_DECL auto read_identity(boost::json::value const&) -> object_meta;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/list_page.ipp>
#endif
