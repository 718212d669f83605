// Any bytes: manifests, or problems and nothing else.
#include <agones_alloc/yaml/manifests.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace yaml = agones_alloc::yaml;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  yaml::manifest_options options;
  options.text.max_nodes = 20'000;
  options.text.max_expanded_bytes = 1U << 20;
  auto const loaded = yaml::load(std::string_view{reinterpret_cast<char const*>(data), size}, "input", options);
  if (!loaded.ok() && (!loaded.fleets.empty() || !loaded.game_servers.empty() || !loaded.policies.empty()))
    std::abort();
  if (loaded.errors.size() > options.max_problems || loaded.notes.size() > options.max_notes) std::abort();
  for (auto const& f : loaded.fleets) {
    if (f.replicas < 0 || f.replicas > options.max_replicas || f.meta.name.empty()) std::abort();
  }
  return 0;
}
