// What every JSON fuzz target does: bounded parse, and models that survive a round trip.
#pragma once

#include "require.hpp"

#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/json/read_options.hpp>
#include <agones_alloc/model/meta.hpp>

#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace json_fuzz {

using fuzz::require;

inline auto input(std::uint8_t const* data, std::size_t size) -> std::optional<boost::json::value> {
  auto read = agones_alloc::parse_json(std::string_view{reinterpret_cast<char const*>(data), size});
  if (read) return *std::move(read);
  require(!to_string(read.error()).empty() && read.error().offset <= size);
  return std::nullopt;
}

inline auto reparsed(std::string const& text) -> boost::json::value {
  auto read = agones_alloc::parse_json(text, {.max_bytes = std::string::npos, .max_depth = 80});
  require(read.has_value());
  return *std::move(read);
}

/// Documents kept as text hold floats, whose last digit need not survive Boost.JSON 1.81; that they parse is checked.
inline void forget_texts(agones_alloc::object_meta& meta) {
  if (!meta.extra) return;
  auto extra = *meta.extra;
  extra.owner_references = {};
  extra.managed_fields = {};
  meta.extra = extra == agones_alloc::meta_extra{} ? nullptr : std::make_shared<agones_alloc::meta_extra const>(extra);
}

/// Reads in every mode, writes, and reads again.
template <class Read, class Write, class Forget>
void round_trip(boost::json::value const& value, Read read, Write write, Forget forget) {
  std::vector<std::string> unknown;
  (void)read(value, agones_alloc::json_read_options{.strict = true, .refuse_unknown_fields = true, .max_entries = 3});
  auto first = read(value, agones_alloc::json_read_options{.unknown_fields = &unknown});
  require(unknown.size() <= 64);
  if (!first) return require(!to_string(first.error()).empty());
  auto second = read(reparsed(write(*first)), agones_alloc::json_read_options{});
  require(second.has_value());
  forget(*first);
  forget(*second);
  require(*first == *second && write(*first) == write(*second));
}

}  // namespace json_fuzz
