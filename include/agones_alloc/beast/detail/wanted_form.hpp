// What form of an answer is wanted where there is a stream of it, too.
#pragma once

#include <agones_alloc/beast/detail/field_words.hpp>
#include <agones_alloc/config.hpp>

#include <cstdint>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

enum class wanted_form : std::uint8_t { json, events, other };

/// By quality, then by order; JSON where nothing is said. `other`: neither is acceptable.
inline auto form_of(std::string_view accept) -> wanted_form {
  if (accept.empty()) return wanted_form::json;
  auto best = wanted_form::other;
  int best_quality = 0;
  while (!accept.empty()) {
    auto parameters = next_part(accept, ',');
    auto const range = next_part(parameters, ';');
    auto const quality = quality_of(parameters);
    bool const events = same_word(range, "text/event-stream");
    bool const json = same_word(range, "application/json") || same_word(range, "application/*") || range == "*/*";
    if ((!events && !json) || quality <= best_quality) continue;
    best_quality = quality;
    best = events ? wanted_form::events : wanted_form::json;
  }
  return best;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
