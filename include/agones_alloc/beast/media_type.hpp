// Content-Type and Accept (spec 9.3).
#pragma once

#include <agones_alloc/config.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class media_type : std::uint8_t { json, yaml };

/// `application/json`, `application/yaml`
inline auto to_string(media_type type) noexcept -> std::string_view {
  switch (type) {
    case media_type::json: return "application/json";
    case media_type::yaml: return "application/yaml";
  }
  return "application/json";
}

struct content_type {
  enum class kind : std::uint8_t { json, yaml, protobuf, missing, other };
  kind what{kind::missing};
};

/// Parameters are ignored, as is case. `missing`: empty or not `type/subtype`.
AGONES_ALLOC_DECL auto parse_content_type(std::string_view field) noexcept -> content_type;

/// The type to answer in, by quality, then by order. JSON when the field is absent or names nothing that is spoken here.
/// nullopt: protobuf is asked for and neither JSON nor YAML is acceptable, so there is nothing the client could
/// read (Q20).
AGONES_ALLOC_DECL auto negotiate(std::string_view accept) noexcept -> std::optional<media_type>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/media_type.ipp>
#endif
