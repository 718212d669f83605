#pragma once

#include <agones_alloc/model/field_error.hpp>

#include <unordered_set>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto to_string(field_error_type type) noexcept -> std::string_view {
  switch (type) {
    case field_error_type::required: return "FieldValueRequired";
    case field_error_type::not_supported: return "FieldValueNotSupported";
    case field_error_type::invalid: return "FieldValueInvalid";
    case field_error_type::forbidden: return "FieldValueForbidden";
    case field_error_type::too_long: return "FieldValueTooLong";
  }
  return "FieldValueInvalid";
}

AGONES_ALLOC_DECL auto body_of(field_error const& error) -> std::string {
  switch (error.type) {
    case field_error_type::required: return "Required value: " + error.detail;
    case field_error_type::forbidden: return "Forbidden: " + error.detail;
    case field_error_type::too_long: return "Too long: " + error.detail;
    case field_error_type::not_supported: return "Unsupported value: " + error.value + ": " + error.detail;
    case field_error_type::invalid: break;
  }
  return "Invalid value: " + error.value + ": " + error.detail;
}

AGONES_ALLOC_DECL auto to_string(field_error const& error) -> std::string { return error.field + ": " + body_of(error); }

AGONES_ALLOC_DECL auto to_string(field_errors const& errors) -> std::string {
  std::unordered_set<std::string> distinct;
  std::string out = "[";
  for (auto const& error : errors) {
    auto const [text, is_new] = distinct.insert(to_string(error));
    if (!is_new) continue;
    if (out.size() > 1) out += ", ";
    out += *text;
  }
  if (distinct.size() == 1) return out.substr(1);
  return out + "]";
}

AGONES_ALLOC_DECL auto go_quoted(std::string_view text) -> std::string {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char const c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\v': out += "\\v"; break;
      default: {
        auto const byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
          out += "\\x";
          out += hex[byte >> 4];
          out += hex[byte & 15];
        } else {
          out += c;
        }
      }
    }
  }
  return out + "\"";
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
