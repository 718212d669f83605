#pragma once

#include <agones_alloc/json/parse.hpp>

#include <boost/json/error.hpp>
#include <boost/json/parse_options.hpp>
#include <boost/json/parser.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline constexpr std::string_view json_white_space = " \t\n\r";

inline auto json_error_at(decode_fault fault, std::string message, std::string_view text, std::size_t offset)
    -> decode_error {
  offset = std::min(offset, text.size());
  auto const before = text.substr(0, offset);
  auto const line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  auto const line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  return {fault, {}, std::move(message), offset, line, offset - line_start + 1};
}

inline auto json_parse_failure(boost::json::error_code ec, std::string_view text, std::size_t offset,
                               json_parse_options const& options) -> decode_error {
  if (ec == boost::json::error::too_deep) {
    return json_error_at(decode_fault::limit, "nested deeper than " + std::to_string(options.max_depth) + " levels",
                         text, offset);
  }
  if (ec == boost::json::error::incomplete) {
    return json_error_at(decode_fault::syntax, "unexpected end of JSON", text, text.size());
  }
  return json_error_at(decode_fault::syntax, "invalid JSON: " + ec.message(), text, offset);
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto parse_json(std::string_view text, json_parse_options const& options,
                                  boost::json::storage_ptr storage) -> decoded<boost::json::value> {
  if (text.size() > options.max_bytes) {
    return decode_error{decode_fault::limit,
                        {},
                        "JSON of " + std::to_string(text.size()) + " bytes, at most " +
                            std::to_string(options.max_bytes) + " are accepted",
                        0,
                        0,
                        0};
  }
  if (options.empty_is_object && text.find_first_not_of(detail::wire::json_white_space) == std::string_view::npos) {
    return boost::json::value(boost::json::object(std::move(storage)));
  }
  boost::json::parse_options json_options;
  json_options.max_depth = options.max_depth;
  std::array<unsigned char, 4096> scratch;  // the parser's stack; larger documents go on to the heap
  boost::json::parser parser(boost::json::storage_ptr{}, json_options, scratch.data(), scratch.size());
  parser.reset(std::move(storage));
  boost::json::error_code ec;
  auto const used = parser.write_some(text.data(), text.size(), ec);
  if (ec) return detail::wire::json_parse_failure(ec, text, used, options);
  if (!options.allow_trailing) {
    if (auto const rest = text.find_first_not_of(detail::wire::json_white_space, used);
        rest != std::string_view::npos) {
      return detail::wire::json_error_at(decode_fault::syntax, "text after the JSON document", text, rest);
    }
  }
  return parser.release();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
