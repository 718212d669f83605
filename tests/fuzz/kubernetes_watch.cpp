// The body of a watch, cut into chunks by its first byte: the events must not depend on where the chunks break.
#include "json_reading.hpp"

#include <agones_alloc/json/api_failure.hpp>
#include <agones_alloc/json/read_game_server.hpp>
#include <agones_alloc/json/watch_reader.hpp>

#include <boost/json/serialize.hpp>

#include <algorithm>

using namespace agones_alloc;

namespace {

struct heard {
  std::vector<std::string> events;
  std::string version;
  bool failed{false};
  bool pending{false};
  friend auto operator==(heard const&, heard const&) -> bool = default;
};

auto listen(std::string_view body, std::size_t step) -> heard {
  watch_reader reader{"1", {.max_bytes = 4096, .max_depth = 16}};
  heard out;
  while (!body.empty() && !out.failed) {
    auto chunk = body.substr(0, std::min(step, body.size()));
    body.remove_prefix(chunk.size());
    while (true) {
      auto const event = reader.next(chunk);
      if (!event) {
        json_fuzz::require(!to_string(event.error()).empty());
        out.failed = true;
        break;
      }
      if (*event == nullptr) break;
      auto const& object = *(*event)->object;
      out.events.push_back(boost::json::serialize(object));
      (void)read_game_server(object);
      (void)read_api_failure(object);
    }
  }
  out.version = reader.resource_version();
  out.pending = !out.failed && reader.pending();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view const body{reinterpret_cast<char const*>(data) + 1, size - 1};
  auto const whole = listen(body, body.size());
  json_fuzz::require(whole == listen(body, std::size_t{data[0]} % 37 + 1));
  (void)api_failure_of(500, body);
  return 0;
}
