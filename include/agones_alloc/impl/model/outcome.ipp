#pragma once

#include <agones_alloc/model/outcome.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto to_string(outcome value) noexcept -> std::string_view {
  switch (value) {
    case outcome::allocated: return "allocated";
    case outcome::exhausted: return "exhausted";
    case outcome::contention: return "contention";
    case outcome::invalid: return "invalid";
    case outcome::refused: return "refused";
    case outcome::unavailable: return "unavailable";
    case outcome::unknown: return "unknown";
    case outcome::cancelled: return "cancelled";
    case outcome::deadline: return "deadline";
  }
  return "unknown";
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
