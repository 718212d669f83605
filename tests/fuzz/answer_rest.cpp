// Arbitrary bytes as the answer of a game to a check over a connection that may be kept.
#include <agones_alloc/flow/answer_rest.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace agones_alloc;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  constexpr std::size_t most = 256;
  std::string text{reinterpret_cast<char const*>(data), size};
  auto const all = rest_of_answer(text, most);
  if (size >= most && all == answer_rest::more) std::abort();
  if (size > most && all == answer_rest::whole) std::abort();
  if (all != answer_rest::whole) return 0;
  // However the bytes come, it is over at its end alone.
  for (std::size_t i = 0; i != size; ++i) {
    if (rest_of_answer(std::string_view{text}.substr(0, i), most) != answer_rest::more) std::abort();
  }
  if (rest_of_answer(text + "H", most) != answer_rest::open) std::abort();
  return 0;
}
