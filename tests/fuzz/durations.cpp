// Spans of time in annotations and options: what is read is written so that it reads the same.
#include "require.hpp"

#include <agones_alloc/embedded/durations.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

using fuzz::require;
using namespace agones_alloc;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text{reinterpret_cast<char const*>(data), size};
  auto const range = parse_duration_range(text);
  if (auto const one = parse_duration(text)) {
    require(one->count() >= 0 && *one <= longest_duration);
    require(parse_duration(to_string(*one)) == one);
    require(range == duration_range{*one, *one});
  }
  if (range) {
    require(range->min.count() >= 0 && range->min <= range->max && range->max <= longest_duration);
    require(parse_duration_range(to_string(*range)) == range);
  }
  return 0;
}
