// Texts, booleans and integers.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/number.hpp>
#include <agones_alloc/json/detail/reader.hpp>
#include <agones_alloc/model/shared_string.hpp>

#include <boost/json/value.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

inline void read_value(reader& in, place const& at, boost::json::value const& value, std::string_view& out) {
  if (value.is_string()) {
    out = value.get_string();
  } else {
    in.expected(at, "a string", value);
  }
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, shared_string& out) {
  if (value.is_string()) {
    out = shared_string{std::string_view{value.get_string()}};
  } else {
    in.expected(at, "a string", value);
  }
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, bool& out) {
  if (value.is_bool()) {
    out = value.get_bool();
  } else {
    in.expected(at, "a boolean", value);
  }
}

template <class Integer>
  requires(std::is_same_v<Integer, std::int32_t> || std::is_same_v<Integer, std::int64_t>)
void read_value(reader& in, place const& at, boost::json::value const& value, Integer& out) {
  constexpr std::string_view what = sizeof(Integer) == 4 ? "a 32-bit integer" : "a 64-bit integer";
  auto const given = in.language() == dialect::proto ? proto_number(value) : plain_number(value);
  auto const out_of_range = [&](auto number) {
    in.fail(decode_fault::type, at,
            "expected " + std::string{what} + ", " + std::to_string(number) + " is out of range");
  };
  if (auto const* number = std::get_if<std::int64_t>(&given)) {
    if (*number < std::numeric_limits<Integer>::min() || *number > std::numeric_limits<Integer>::max())
      return out_of_range(*number);
    out = static_cast<Integer>(*number);
  } else if (auto const* large = std::get_if<std::uint64_t>(&given)) {
    out_of_range(*large);
  } else {
    in.not_an_integer(at, what, value);
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
