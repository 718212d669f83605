#pragma once

#include <agones_alloc/beast/detail/field_words.hpp>
#include <agones_alloc/beast/media_type.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto parse_content_type(std::string_view field) noexcept -> content_type {
  using kind = content_type::kind;
  auto const type = detail::next_part(field, ';');
  if (detail::same_word(type, "application/json")) return {kind::json};
  if (detail::same_word(type, "application/yaml")) return {kind::yaml};
  if (detail::same_word(type, "application/vnd.kubernetes.protobuf")) return {kind::protobuf};
  auto const slash = type.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == type.size()) return {kind::missing};
  return {kind::other};
}

AGONES_ALLOC_DECL auto negotiate(std::string_view accept) noexcept -> std::optional<media_type> {
  std::optional<media_type> best;
  int best_quality = 0;
  bool protobuf = false;
  while (!accept.empty()) {
    auto parameters = detail::next_part(accept, ',');
    auto const type = detail::next_part(parameters, ';');
    auto const quality = detail::quality_of(parameters);
    if (detail::same_word(type, "application/vnd.kubernetes.protobuf")) protobuf = protobuf || quality > 0;
    bool const json = detail::same_word(type, "application/json") || type == "*/*" || type == "application/*";
    bool const yaml = detail::same_word(type, "application/yaml");
    if ((!json && !yaml) || quality <= best_quality) continue;
    best_quality = quality;
    best = yaml ? media_type::yaml : media_type::json;
  }
  if (best) return best;
  if (protobuf) return std::nullopt;
  return media_type::json;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
