// What is wrong with a manifest, and where.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

/// One problem, or one remark, about one place of one file.
struct problem {
  std::string file;     ///< as the caller named it
  std::size_t line{0};  ///< from 1; 0 when it concerns the file as a whole
  std::string field;    ///< dotted path within the object, "" when it concerns the object as a whole
  std::string message;
  bool left_out{false};  ///< a remark about something that has no effect at all
  friend auto operator==(problem const&, problem const&) -> bool = default;
};

using problems = std::vector<problem>;

/// `fleets.yaml:12: spec.replicas: must not be negative`; the parts that are unknown are left out.
inline auto to_string(problem const& p) -> std::string {
  auto out = p.file;
  if (p.line != 0) out += ":" + std::to_string(p.line);
  if (!out.empty()) out += ": ";
  if (!p.field.empty()) out += p.field + ": ";
  return out + p.message;
}

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
