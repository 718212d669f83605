// Why a document could not be decoded, and the result type of every reader.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>

#include <boost/system/result.hpp>
#include <boost/throw_exception.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class decode_fault : std::uint8_t {
  syntax,         ///< not JSON, not UTF-8, or text after the document
  limit,          ///< over a bound on bytes, depth or entries
  type,           ///< a field of the wrong type or out of its range
  kind,           ///< another kind or apiVersion (Q21)
  enum_name,      ///< strict only: a word the enum does not have
  unknown_field,  ///< only when unknown fields are refused
  unsupported,    ///< well-formed, but cannot be expressed in the target form (Q10)
};

/// snake_case name, for logs.
AGONES_ALLOC_DECL auto to_string(decode_fault) noexcept -> std::string_view;

struct decode_error {
  decode_fault fault{decode_fault::syntax};
  std::string field;    ///< `spec.selectors[0].counters[rooms].minCount`; "" for the document itself
  std::string message;  ///< `expected a string, got a number`
  /// Where the text went wrong: bytes from 0, line and column (in bytes) from 1. All 0 when it did not come from the
  /// text.
  std::size_t offset{0};
  std::size_t line{0};
  std::size_t column{0};

  friend auto operator==(decode_error const&, decode_error const&) -> bool = default;
};

/// `<field>: <message>`, or `line 3, column 7: <message>`.
AGONES_ALLOC_DECL auto to_string(decode_error const&) -> std::string;

/// errc::limit_exceeded or errc::malformed: for those who hand on a code.
AGONES_ALLOC_DECL auto code_of(decode_error const&) noexcept -> error_code;

/// What every reader returns. `.value()` of a failed one throws std::invalid_argument.
template <class T>
using decoded = boost::system::result<T, decode_error>;

BOOST_NORETURN inline void throw_exception_from_error(decode_error const& error, boost::source_location const& at) {
  boost::throw_exception(std::invalid_argument{to_string(error)}, at);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/decode_error.ipp>
#endif
