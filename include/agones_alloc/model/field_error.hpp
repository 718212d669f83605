// One validation problem with its field path, as Kubernetes reports it (spec 2.3).
#pragma once

#include <agones_alloc/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class field_error_type : std::uint8_t { required, not_supported, invalid, forbidden, too_long };

/// `FieldValueInvalid` and so on: a cause's `reason` on the wire.
AGONES_ALLOC_DECL auto to_string(field_error_type) noexcept -> std::string_view;

struct field_error {
  field_error_type type{field_error_type::invalid};
  std::string field;   ///< dotted path, `spec.selectors[0].counters[rooms].minCount`
  std::string value;   ///< as it is shown, quotes included; unused for required, forbidden, too_long
  std::string detail;

  friend auto operator==(field_error const&, field_error const&) -> bool = default;
};

using field_errors = std::vector<field_error>;

/// `Invalid value: -1: must be greater than or equal to 0`: a cause's `message`.
AGONES_ALLOC_DECL auto body_of(field_error const&) -> std::string;
/// `<field>: <body>`.
AGONES_ALLOC_DECL auto to_string(field_error const&) -> std::string;
/// One distinct error: its text; several: `[e1, e2]`, exact duplicates removed (spec 2.3).
AGONES_ALLOC_DECL auto to_string(field_errors const&) -> std::string;
/// Text in double quotes with Go's escaping, as Kubernetes shows a bad string.
AGONES_ALLOC_DECL auto go_quoted(std::string_view text) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/model/field_error.ipp>
#endif
