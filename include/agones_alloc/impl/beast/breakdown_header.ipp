#pragma once

#include <agones_alloc/beast/breakdown_header.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

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
      for (char const c : clause.name) out += (c >= 0x20 && c < 0x7f) ? c : '?';
      out += '=';
      out += std::to_string(clause.remaining);
      if (out.size() > limit) {
        out.resize(limit < 3 ? 0 : limit - 3);
        return out += "...";
      }
    }
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
