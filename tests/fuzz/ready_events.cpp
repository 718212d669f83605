// Arbitrary bytes as the answer of a game to a gate that listens for events.
#include <agones_alloc/flow/ready_events.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

using namespace agones_alloc;

namespace {

/// However the bytes come they say the same, and what was said is the last word.
auto read(std::string_view text, std::size_t piece) -> std::optional<probe_answer> {
  ready_events reader{"match-7"};
  for (std::size_t at = 0; at < text.size(); at += piece) {
    if (auto const got = reader.take(text.substr(at, piece))) return got;
  }
  return std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text{reinterpret_cast<char const*>(data), size};
  // A head that is too long is noticed sooner in small pieces.
  if (size <= ready_events::most_head) {
    auto const whole = read(text, size + 1);
    if (read(text, 1) != whole || read(text, 7) != whole) std::abort();
  }
  static_cast<void>(read(text, 4096));
  return 0;
}
