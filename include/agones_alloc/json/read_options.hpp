// How strict the readers are.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What all readers share (spec 1.1): keys are case-sensitive, unknown keys are ignored, `null` is the zero value or
/// absence, types are strict: a quoted, fractional (`1.0`), exponent (`1e2`) or out-of-range number is no integer.
/// `kind` and `apiVersion` may be absent, another pair is fault `kind` (Q21).
struct json_read_options {
  bool strict{false};                 ///< refuse words an enum does not have
  bool refuse_unknown_fields{false};  ///< fault `unknown_field` for the first key no version of the type has
  /// Collects the paths of unknown keys, at most `max_unknown_fields`. Not owned.
  std::vector<std::string>* unknown_fields{nullptr};
  std::size_t max_unknown_fields{64};
  std::size_t max_entries{10'000};  ///< in any one map or array that the model keeps; more is fault `limit`
  bool check_quantities{true};      ///< Fleet, GameServer: refuse a bad resource quantity in the pod template
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
