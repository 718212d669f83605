// Runs a fuzz target on its corpus as an ordinary test: every seed, cut at many lengths, and with single
// bytes changed. Always the same inputs in the same order.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

namespace {

using bytes = std::vector<std::uint8_t>;

auto read(std::filesystem::path const& file) -> bytes {
  auto stream = std::ifstream{file, std::ios::binary};
  return bytes{std::istreambuf_iterator<char>{stream}, std::istreambuf_iterator<char>{}};
}

auto replay(bytes const& seed) -> std::size_t {
  constexpr std::size_t cuts = 64;
  constexpr std::size_t changes = 256;
  auto runs = std::size_t{0};
  auto const run = [&runs](bytes const& input) {
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++runs;
  };
  run(seed);
  for (std::size_t i = 0; i < std::min(cuts, seed.size()); ++i) {
    // A copy of its own size: reading past the end is then an error that AddressSanitizer sees.
    auto const length = static_cast<std::ptrdiff_t>(i * seed.size() / std::min(cuts, seed.size()));
    run(bytes(seed.begin(), seed.begin() + length));
  }
  constexpr std::uint8_t words[] = {0x00, 0xff, '"', '\\', '{', '[', '-', '9', '\n', ':'};
  for (std::size_t i = 0; i < std::min(changes, seed.size()); ++i) {
    auto changed = seed;
    changed[i * seed.size() / std::min(changes, seed.size())] = words[i % std::size(words)];
    run(changed);
  }
  return runs;
}

}  // namespace

auto main(int argc, char** argv) -> int {
  if (argc != 2) {
    std::fputs("usage: replay CORPUS-FOLDER\n", stderr);
    return 2;
  }
  auto files = std::vector<std::filesystem::path>{};
  for (auto const& entry : std::filesystem::directory_iterator{argv[1]}) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  if (files.empty()) {
    std::fprintf(stderr, "%s holds no seeds\n", argv[1]);
    return 1;
  }
  std::sort(files.begin(), files.end());
  auto runs = std::size_t{0};
  for (auto const& file : files) runs += replay(read(file));
  std::printf("%zu seeds, %zu inputs\n", files.size(), runs);
  return 0;
}
