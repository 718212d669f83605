// Multi-document YAML text to JSON values with the lines they came from.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/yaml/problem.hpp>
#include <agones_alloc/yaml/source_lines.hpp>

#include <boost/json/value.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

/// Bounds of one text. What goes over one is a problem that names the bound; memory stays proportional to them.
struct limits {
  std::size_t max_bytes{8U << 20};  ///< of the text
  std::size_t max_documents{10'000};
  std::size_t max_depth{64};       ///< nested maps and lists
  std::size_t max_nodes{500'000};  ///< values of all documents, aliases and anchors counted at their full size
  std::size_t max_expanded_bytes{32U << 20};  ///< characters of all scalars, counted the same way
};

struct document {
  boost::json::value value;
  source_lines lines;

  /// The line of a field, or of the nearest part of its path that exists.
  auto line_of(std::string_view path) const -> std::size_t { return yaml::line_of(value, lines, path); }
};

/// Either documents, or one problem and no documents.
struct documents {
  std::vector<document> values;  ///< in the order of the text, empty documents left out
  problems errors;
};

/// Reads the YAML that Kubernetes tools read: several documents, anchors, aliases and merge keys (`<<`), scalars
/// resolved as `resolve_plain` says, quoted ones as strings, `!!str` and its like honoured. JSON is read as well.
///
/// Refused, with line: text that is not UTF-8 or holds control characters, a key given twice, keys that are
/// lists, maps or null, an alias within its own anchor, numbers JSON cannot hold, and whatever is over `limits`.
/// `file` only names the text in problems. Thread-safe; does no I/O. Throws std::bad_alloc only.
AGONES_ALLOC_DECL auto parse(std::string_view text, std::string_view file, limits const& = {}) -> documents;

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/yaml/document.ipp>
#endif
