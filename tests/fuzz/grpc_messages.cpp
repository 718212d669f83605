// Any bytes as a message of the allocation service: read, validated, and written again.
#include <agones_alloc/grpc/messages.hpp>
#include <agones_alloc/select/request.hpp>

#include <agones_alloc_proto/allocation.pb.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace agones_alloc;
  if (size == 0 || size > 1U << 20U) return 0;
  feature_gates gates;
  gates.counts_and_lists = (data[0] & 1U) != 0;
  gates.player_allocation_filter = (data[0] & 2U) != 0;
  allocation::AllocationResponse response;
  if (response.ParseFromArray(data + 1, static_cast<int>(size - 1))) {
    auto const gsa = message_to_allocation(response, "far:443", gates);
    allocation::AllocationResponse again;
    allocation_to_message(gsa, again, gates);
    // The source is the endpoint's; all else comes back.
    if (message_to_allocation(again, "far:443", gates) != gsa) std::abort();
  }
  allocation::AllocationRequest request;
  if (!request.ParseFromArray(data + 1, static_cast<int>(size - 1))) return 0;
  auto const made = allocation_request::make(message_to_allocation(request, gates), gates, {});
  if (std::holds_alternative<field_errors>(made)) return 0;
  auto const& gsa = std::get<request_ptr>(made)->allocation();
  allocation::AllocationRequest forwarded;
  if (allocation_to_message(gsa, forwarded, gates)) return 0;
  // What is forwarded is understood there as it is here.
  auto const there = allocation_request::make(message_to_allocation(forwarded, gates), gates, {});
  if (!std::holds_alternative<request_ptr>(there)) std::abort();
  allocation::AllocationRequest back;
  if (allocation_to_message(std::get<request_ptr>(there)->allocation(), back, gates)) std::abort();
  if (back.ByteSizeLong() != forwarded.ByteSizeLong()) std::abort();
  return 0;
}
