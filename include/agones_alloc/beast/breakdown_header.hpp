// Why nothing matched, in one header field.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Field of every `exhausted` answer, on both paths.
inline constexpr std::string_view breakdown_field = "Agones-Alloc-Breakdown";

/// As the value of a header field: anything but printable ASCII becomes `?`; what goes beyond `limit` characters is cut and ends in
/// `...`.
AGONES_ALLOC_DECL auto field_text(std::string_view, std::size_t limit = 1024) -> std::string;

/// `namespace default=12; label agones.dev/fleet=x=0` for each selector, selectors separated by ` | `: how many servers
/// are left after each clause. See field_text.
AGONES_ALLOC_DECL auto breakdown_text(breakdown const&, std::size_t limit = 1024) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/breakdown_header.ipp>
#endif
