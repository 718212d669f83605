// Any bytes: read as YAML within bounds, or refused with a problem; what was read is written and read back equal.
#include <agones_alloc/yaml/document.hpp>
#include <agones_alloc/yaml/write.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace yaml = agones_alloc::yaml;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text{reinterpret_cast<char const*>(data), size};
  yaml::limits bounds;
  bounds.max_nodes = 20'000;
  bounds.max_expanded_bytes = 1U << 20;
  auto const read = yaml::parse(text, "input", bounds);
  if (!read.errors.empty() && !read.values.empty()) std::abort();
  for (auto const& error : read.errors) {
    if (error.message.empty() || to_string(error).size() > 1000) std::abort();
  }
  for (auto const& doc : read.values) {
    if (doc.value.is_null()) std::abort();
    static_cast<void>(doc.line_of({text.substr(0, 100)}));
    auto const again = yaml::parse(yaml::write(doc.value), "written", {});
    if (again.values.size() != 1 || again.values[0].value != doc.value) std::abort();
  }
  return 0;
}
