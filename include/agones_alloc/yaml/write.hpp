// JSON values to YAML text.
#pragma once

#include <agones_alloc/config.hpp>

#include <boost/json/value.hpp>

#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

/// One document in block style, keys in the value's order, ending in a line break; what `Accept: application/yaml`
/// gets. Strings that a YAML 1.1 or 1.2 reader could take for another type are quoted, so `parse` gives the value back.
/// Depth is the value's: write only values that were made or read within bounds. Thread-safe.
AGONES_ALLOC_DECL auto write(boost::json::value const& value) -> std::string;

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/yaml/write.ipp>
#endif
