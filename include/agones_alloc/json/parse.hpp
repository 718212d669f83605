// Text to boost::json::value, bounded in bytes and depth (spec 1.1).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>

#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct json_parse_options {
  std::size_t max_bytes{4U << 20U};  ///< longer text is refused unread; etcd refuses objects over 1.5 MiB
  std::size_t max_depth{64};         ///< nested arrays and objects; a pod template needs about 15
  bool allow_trailing{false};        ///< read the first value only, ignore what follows (spec 8.10)
  bool empty_is_object{false};       ///< text of nothing but white space is `{}` (spec 8.10)
};

/// One JSON document. Of duplicate keys the last wins. Integers of the int64 and uint64 ranges are exact; other numbers
/// become doubles, which no integer field accepts. Invalid UTF-8 and NUL bytes are refused. Errors have fault `syntax`
/// or `limit` and carry offset, line and column. Never throws but for memory. Thread safety: a pure function.
/// The value lives in `storage` (default: the heap).
AGONES_ALLOC_DECL auto parse_json(std::string_view text, json_parse_options const& options = {},
                                  boost::json::storage_ptr storage = {}) -> decoded<boost::json::value>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/parse.ipp>
#endif
