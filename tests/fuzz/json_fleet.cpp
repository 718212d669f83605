// Fleet: text to value and back.
#include "json_reading.hpp"

#include <agones_alloc/json/read_fleet.hpp>
#include <agones_alloc/json/write.hpp>

using namespace agones_alloc;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (auto const value = json_fuzz::input(data, size)) {
    json_fuzz::round_trip(
        *value, [](auto const& v, json_read_options const& options) { return read_fleet(v, options); },
        [](fleet const& one) { return to_json(one); },
        [](fleet& one) {
          json_fuzz::forget_texts(one.meta);
          one.server_template.spec = {};
        });
  }
  return 0;
}
