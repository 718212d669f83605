// Port: Kubernetes Events about game servers (spec 7, step 8).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <cstdint>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Called on the allocator's executor, after the write. Must not block and must not throw.
class recorder {
 public:
  enum class type : std::uint8_t { normal, warning };
  virtual ~recorder() = default;
  /// E.g. normal, "Allocated", "Allocated"; warning, "CounterActionError", the lines of the errors.
  virtual void record(game_server const& about, type, std::string_view reason, std::string_view message) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
