// GameServerAllocation: text to value and back.
#include "json_reading.hpp"

#include <agones_alloc/json/read_allocation.hpp>
#include <agones_alloc/json/write.hpp>

using namespace agones_alloc;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (auto const value = json_fuzz::input(data, size)) {
    json_fuzz::round_trip(
        *value,
        [](auto const& v, json_read_options const& options) {
          auto gsa = read_game_server_allocation(v, options);
          if (gsa) {  // what the writer does not keep: it always prints the type's own, and no empty map or array
            gsa->kind = {};
            gsa->api_version = {};
            auto& spec = gsa->spec;
            if (spec.priorities && spec.priorities->empty()) spec.priorities.reset();
            if (spec.counters && spec.counters->empty()) spec.counters.reset();
            if (spec.lists && spec.lists->empty()) spec.lists.reset();
            auto const tidy = [](game_server_selector& selector) {
              if (selector.counters && selector.counters->empty()) selector.counters.reset();
              if (selector.lists && selector.lists->empty()) selector.lists.reset();
            };
            tidy(spec.required);
            for (auto& selector : spec.preferred) tidy(selector);
            for (auto& selector : spec.selectors) tidy(selector);
          }
          return gsa;
        },
        [](game_server_allocation const& gsa) { return to_json(gsa); },
        [](game_server_allocation& gsa) { json_fuzz::forget_texts(gsa.meta); });
  }
  return 0;
}
