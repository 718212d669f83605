// What a call says about the readiness gate.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/meta.hpp>

#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct gate_request {
  /// Settings that go before those of the fleet's template and of the allocator, as change_gate reads them; "" for none.
  std::string text{};
  /// The call ends as soon as the server is pending (has_pending): allocation_result::claim is the id by which the end is found,
  /// with readiness_gate::async_wait or allocator::async_find_claim.
  bool async{false};
  /// Servers that were tried before: others are taken where there are any.
  std::vector<object_key> avoid{};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
