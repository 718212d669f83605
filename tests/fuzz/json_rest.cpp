// AllocationRequest, AllocationResponse and the error bodies of remote allocators.
#include "json_reading.hpp"

#include <agones_alloc/json/grpc_code.hpp>
#include <agones_alloc/json/rest.hpp>
#include <agones_alloc/json/status.hpp>

using namespace agones_alloc;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  feature_gates const gates{true, true};
  auto const value = json_fuzz::input(data, size);
  if (!value) return 0;
  if (auto const error = read_grpc_error(*value)) json_fuzz::require(read_grpc_error(json_fuzz::reparsed(grpc_error_body(*error))) == error);
  if (auto const status = read_status(*value)) json_fuzz::reparsed(to_json_status(*status));

  (void)rest_request_to_allocation(*value, {}, {.strict = true, .refuse_unknown_fields = true, .max_entries = 3});
  if (auto const gsa = rest_request_to_allocation(*value, gates)) {
    if (auto const text = allocation_to_rest_request(*gsa, gates, {.match_expressions = true})) {
      auto const again = rest_request_to_allocation(json_fuzz::reparsed(*text), gates);
      // Negative players are uint64 beyond int64, which only the reader reinterprets.
      if (again) json_fuzz::require(again->spec.selectors.size() == gsa->spec.selectors.size());
    }
  }
  if (auto const gsa = rest_response_to_allocation(*value, "endpoint", gates)) {
    auto const again = rest_response_to_allocation(json_fuzz::reparsed(allocation_to_rest_response(*gsa, gates)), "endpoint", gates);
    json_fuzz::require(again.has_value());
    json_fuzz::require(again->status.counters == gsa->status.counters && again->status.ports == gsa->status.ports);
    json_fuzz::require(again->status.lists.size() == gsa->status.lists.size());
  }
  return 0;
}
