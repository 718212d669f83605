// Requests as they go to other clusters, by the request they were made of.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/rest.hpp>
#include <agones_alloc/port/remote_allocator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// A request is immutable, and often allocated for many times, and over several clusters: it is written once. A few of the
/// last are known, by address: while they are, no other can have it.
class forwarded_bodies {
 public:
  /// Null: it cannot be expressed, see `error`.
  auto of(remote_call const& call, decode_error& error) -> std::shared_ptr<std::string const> {
    auto& at = known_[(reinterpret_cast<std::uintptr_t>(call.allocation.get()) >> 6U) % known_.size()];
    if (at.body && at.from == call.allocation && at.space == call.namespace_ && at.gates == call.gates &&
        at.match_expressions == call.match_expressions) {
      return at.body;
    }
    auto made =
        allocation_to_rest_request(*call.allocation, call.gates, {call.namespace_.view(), true, call.match_expressions});
    if (!made) {
      error = std::move(made).error();
      return nullptr;
    }
    at = {call.allocation, call.namespace_, call.gates, call.match_expressions,
          std::make_shared<std::string const>(*std::move(made))};
    return at.body;
  }

 private:
  struct entry {
    std::shared_ptr<game_server_allocation const> from;
    shared_string space;
    feature_gates gates;
    bool match_expressions{false};
    std::shared_ptr<std::string const> body;
  };
  std::array<entry, 64> known_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
