// What form of an answer is wanted where there is a stream of it, too.
#pragma once

#include <agones_alloc/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

enum class wanted_form : std::uint8_t { json, events, other };

/// By the first media range of Accept that is known; parameters and weights are not looked at.
inline auto form_of(std::string_view accept) -> wanted_form {
  if (accept.empty()) return wanted_form::json;
  while (!accept.empty()) {
    auto const end = std::min(accept.find(','), accept.size());
    auto range = accept.substr(0, std::min(end, accept.find(';')));
    accept.remove_prefix(std::min(end + 1, accept.size()));
    while (range.starts_with(' ')) range.remove_prefix(1);
    while (range.ends_with(' ')) range.remove_suffix(1);
    if (range == "text/event-stream") return wanted_form::events;
    if (range == "application/json" || range == "application/*" || range == "*/*") return wanted_form::json;
  }
  return wanted_form::other;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
