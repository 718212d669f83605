// Counters, lists and their selectors and actions: a small sorted map by name.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/shared_string.hpp>

#include <boost/container/flat_map.hpp>

#include <functional>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A flat map sorted by name, byte-wise; looked up by string_view. A handful of entries each.
template <class Value>
using named_map = boost::container::flat_map<shared_string, Value, std::less<>>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
