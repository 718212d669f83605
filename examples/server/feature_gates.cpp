#include "options.hpp"

#include <array>

namespace agones_alloc_server {

namespace {

// Every gate of the reference: the two that matter here, and those that are accepted and have no effect.
constexpr std::array<std::string_view, 15> known_gates{"CountsAndLists",
                                                       "PlayerAllocationFilter",
                                                       "PlayerTracking",
                                                       "ProcessorAllocator",
                                                       "DisableResyncOnSDKServer",
                                                       "AutopilotPassthroughPort",
                                                       "GKEAutopilotExtendedDurationPods",
                                                       "PortPolicyNone",
                                                       "PortRanges",
                                                       "RollingUpdateFix",
                                                       "ScheduledAutoscaler",
                                                       "SidecarContainers",
                                                       "FleetAutoscaleRequestMetaData",
                                                       "WasmAutoscaler",
                                                       "Example"};

auto read_boolean(std::string_view word) -> std::variant<bool, std::string> {
  for (auto const yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (word == yes) return true;
  }
  for (auto const no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (word == no) return false;
  }
  return "\"" + std::string{word} + "\" is no boolean; true and false are";
}

}  // namespace

auto read_feature_gates(std::string_view text) -> std::variant<agones_alloc::feature_gates, std::string> {
  agones_alloc::feature_gates gates;
  while (!text.empty()) {
    auto const end = text.find('&');
    auto const part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (part.empty()) continue;
    auto const equals = part.find('=');
    auto const name = part.substr(0, equals);
    bool known = false;
    for (auto const gate : known_gates) known = known || gate == name;
    if (!known) return "Feature Gate \"" + std::string{name} + "\" is not a valid Feature Gate";
    auto const value = read_boolean(equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1));
    if (auto const* problem = std::get_if<std::string>(&value)) return "Feature Gate " + std::string{name} + ": " + *problem;
    if (name == "CountsAndLists") gates.counts_and_lists = std::get<bool>(value);
    if (name == "PlayerAllocationFilter") gates.player_allocation_filter = std::get<bool>(value);
  }
  return gates;
}

}  // namespace agones_alloc_server
