// Text to value or error, in one call.
#pragma once

#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/json/read.hpp>

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace json_tests {

inline auto parsed(std::string_view text) -> boost::json::value { return agones_alloc::parse_json(text).value(); }

/// The error as text, or "" where there is none.
template <class T>
auto error_of(agones_alloc::decoded<T> const& read) -> std::string {
  return read ? std::string{} : to_string(read.error());
}

inline auto allocation_error(std::string_view text, agones_alloc::json_read_options const& options = {}) -> std::string {
  return error_of(agones_alloc::read_game_server_allocation(parsed(text), options));
}

inline auto allocation_of(std::string_view text) -> agones_alloc::game_server_allocation {
  return agones_alloc::read_game_server_allocation(parsed(text)).value();
}

inline auto game_server_of(std::string_view text) -> agones_alloc::game_server {
  return agones_alloc::read_game_server(parsed(text)).value();
}

}  // namespace json_tests
