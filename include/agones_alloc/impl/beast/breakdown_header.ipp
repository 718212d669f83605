#pragma once

#include <agones_alloc/beast/breakdown_header.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto field_text(std::string_view text, std::size_t limit) -> std::string {
  std::string out{text.substr(0, text.size() > limit ? limit - std::min<std::size_t>(limit, 3) : text.size())};
  for (char& c : out) c = (c >= 0x20 && c < 0x7f) ? c : '?';
  return text.size() > limit && limit >= 3 ? out + "..." : out;
}

AGONES_ALLOC_DECL auto breakdown_text(breakdown const& value, std::size_t limit) -> std::string {
  std::string out;
  bool first_selector = true;
  for (auto const& clauses : value.selectors) {
    if (!first_selector) out += " | ";
    first_selector = false;
    bool first = true;
    for (auto const& clause : clauses) {
      if (!first) out += "; ";
      first = false;
      out += clause.name;
      out += '=';
      out += std::to_string(clause.remaining);
      if (out.size() > limit) return field_text(out, limit);
    }
  }
  return field_text(out, limit);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
