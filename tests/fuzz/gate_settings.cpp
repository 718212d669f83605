// The text of a readiness gate, as annotations, requests and options have it.
#include "require.hpp"

#include <agones_alloc/flow/gate_settings.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

using fuzz::require;
using namespace agones_alloc;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text{reinterpret_cast<char const*>(data), size};
  gate_settings read;
  field_errors errors;
  change_gate(read, text, "gate", errors);
  for (auto const& error : errors) require(error.field.starts_with("gate") && !error.detail.empty());
  if (!errors.empty()) return 0;
  // Its own text makes the same of whatever there was before.
  gate_settings other;
  change_gate(other, "sse; port=game; path=/x; key=a; timeout=9s; period=9s; servers=9; successes=9; on-timeout=ReturnToReady", "gate", errors);
  require(errors.empty());
  for (auto again : {gate_settings{}, other, read}) {
    change_gate(again, to_text(read), "gate", errors);
    require(errors.empty() && again == read);
  }
  game_server server;
  server.meta.annotations.set(keys::gate_annotation, text);
  require(choose_gate({}, server, {}, errors) == read && errors.empty());
  return 0;
}
