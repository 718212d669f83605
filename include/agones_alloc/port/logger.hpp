// Port: structured log lines.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class severity : std::uint8_t { debug, info, warning, error };

/// Called from any thread; must not block for long and must not throw. Never given credentials,
/// tokens, headers or bodies.
class logger {
 public:
  using field = std::pair<std::string_view, std::string_view>;
  virtual ~logger() = default;
  virtual void log(severity, std::string_view message, std::initializer_list<field> fields = {}) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
