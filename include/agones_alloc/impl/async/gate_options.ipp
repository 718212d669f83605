#pragma once

#include <agones_alloc/async/gate_options.hpp>

#include <algorithm>
#include <stdexcept>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL void check(gate_options const& options) {
  auto const want = [](bool good, char const* field, char const* what) {
    if (!good) throw std::invalid_argument{std::string{"gate_options."} + field + ": " + what};
  };
  field_errors problems;
  gate_settings ignored;
  change_gate(ignored, to_text(options.otherwise), "gate_options.otherwise", problems);
  if (!problems.empty()) throw std::invalid_argument{to_string(problems)};
  auto const plain = std::all_of(options.owner.begin(), options.owner.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  want(plain && options.owner.size() <= 128, "owner", "at most 128 visible characters of ASCII are wanted");
  want(options.limits.takeover > std::chrono::nanoseconds{0}, "limits.takeover", "must be positive");
  check(options.limits.retry, "gate_options.limits.retry");
  want(options.max_calls > 0, "max_calls", "must be at least 1");
  want(options.max_probes > 0, "max_probes", "must be at least 1");
  want(options.max_probes_per_host > 0, "max_probes_per_host", "must be at least 1");
  want(options.max_streams > 0, "max_streams", "must be at least 1");
  want(options.max_streams_per_host > 0, "max_streams_per_host", "must be at least 1");
}

AGONES_ALLOC_DECL auto to_string(gate_end end) noexcept -> std::string_view {
  switch (end) {
    case gate_end::ready: return "ready";
    case gate_end::timed_out: return "timed_out";
    case gate_end::failed: return "failed";
    case gate_end::abandoned: return "abandoned";
    case gate_end::gone: return "gone";
  }
  return {};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
