// Which line of its file a value came from.
#pragma once

#include <agones_alloc/config.hpp>

#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

/// The lines of a value and of everything in it: a tree of the shape of the value.
///
/// A member's line is that of its key, an element's that of its first token. Values that came through an
/// alias keep the lines of the anchor they were written at.
struct source_lines {
  std::uint32_t line{0};               ///< from 1
  std::vector<source_lines> children;  ///< of an object or array, in its order
};

/// The line of the deepest part of `path` that exists in `value`. Path: dotted names, `[i]` for elements,
/// `[key]` or `.key` for members (keys may hold dots). O(members on the way). `lines` belongs to `value`.
AGONES_ALLOC_DECL auto line_of(boost::json::value const& value, source_lines const& lines, std::string_view path)
    -> std::size_t;

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/yaml/source_lines.ipp>
#endif
