#pragma once

#include <agones_alloc/json/decode_error.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto to_string(decode_fault fault) noexcept -> std::string_view {
  switch (fault) {
    case decode_fault::syntax: return "syntax";
    case decode_fault::limit: return "limit";
    case decode_fault::type: return "type";
    case decode_fault::kind: return "kind";
    case decode_fault::enum_name: return "enum_name";
    case decode_fault::unknown_field: return "unknown_field";
    case decode_fault::unsupported: return "unsupported";
  }
  return "syntax";
}

AGONES_ALLOC_DECL auto to_string(decode_error const& error) -> std::string {
  if (!error.field.empty()) return error.field + ": " + error.message;
  if (error.line == 0) return error.message;
  return "line " + std::to_string(error.line) + ", column " + std::to_string(error.column) + ": " + error.message;
}

AGONES_ALLOC_DECL auto code_of(decode_error const& error) noexcept -> error_code {
  return make_error_code(error.fault == decode_fault::limit ? errc::limit_exceeded : errc::malformed);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
