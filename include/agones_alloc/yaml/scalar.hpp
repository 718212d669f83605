// What a plain YAML scalar means: the rules of Kubernetes' YAML reader.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstdint>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

/// A resolved scalar. Only the member that `what` names has a meaning.
struct scalar {
  enum class kind : std::uint8_t {
    string,
    null,
    boolean,
    integer,           ///< fits int64
    unsigned_integer,  ///< above int64, fits uint64
    real,              ///< any other number; may be infinite or not a number
  };
  kind what{kind::string};
  bool boolean{false};
  std::int64_t integer{0};
  std::uint64_t unsigned_integer{0};
  double real{0};
};

/// Resolves a plain (unquoted, untagged) scalar as kubectl does: YAML 1.1 booleans (`yes`, `off`, `y`, ...),
/// `~` and `null`, integers in base 10, 8 (`0755`, `0o755`), 16 and 2, with `_` between digits, floats,
/// `.inf` and `.nan`; anything else, dates and base 60 included, is a string. A float with a whole value
/// (`1e3`) is an integer, because that is how it travels in JSON. Thread-safe.
AGONES_ALLOC_DECL auto resolve_plain(std::string_view text) noexcept -> scalar;

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/yaml/scalar.ipp>
#endif
