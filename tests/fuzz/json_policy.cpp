// GameServerAllocationPolicy: text to value and back.
#include "json_reading.hpp"

#include <agones_alloc/json/read_policy.hpp>
#include <agones_alloc/json/write.hpp>

using namespace agones_alloc;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (auto const value = json_fuzz::input(data, size)) {
    json_fuzz::round_trip(
        *value, [](auto const& v, json_read_options const& options) { return read_game_server_allocation_policy(v, options); },
        [](game_server_allocation_policy const& policy) { return to_json(policy); },
        [](game_server_allocation_policy& policy) { json_fuzz::forget_texts(policy.meta); });
  }
  return 0;
}
