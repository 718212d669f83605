// What another cluster's stream of fleets sends: events, however they are cut, and the rows in them.
#include "json_reading.hpp"

#include <agones_alloc/beast/fleets/event_reader.hpp>
#include <agones_alloc/json/fleet_info.hpp>

#include <tuple>

using namespace agones_alloc;

namespace {

constexpr std::size_t most_bytes = 2000;

using heard = std::vector<std::tuple<std::string, std::string, std::string>>;

auto listen(std::string_view body, std::size_t step) -> std::pair<heard, bool> {
  event_reader reader{most_bytes};
  heard out;
  while (!body.empty()) {
    auto chunk = body.substr(0, step);
    body.remove_prefix(chunk.size());
    while (auto event = reader.next(chunk)) {
      json_fuzz::require(!event->what.empty() && event->data.size() <= most_bytes);
      out.emplace_back(std::move(event->what), std::move(event->data), std::move(event->id));
    }
    json_fuzz::require(chunk.empty() || reader.failed());
    if (reader.failed()) break;
  }
  return {std::move(out), reader.failed()};
}

void read_row(std::string const& text) {
  auto const value = agones_alloc::parse_json(text);
  if (!value) return;
  (void)read_fleet_info(*value, {.strict = true, .max_entries = 3});
  auto const row = read_fleet_info(*value);
  if (!row) return json_fuzz::require(!to_string(row.error()).empty());
  json_fuzz::require(!row->name.empty());
  fleet_info_parts const whole{true, true};
  std::string once;
  append_json(once, *row, whole);
  auto const again = read_fleet_info(json_fuzz::reparsed(once));
  json_fuzz::require(again.has_value());
  std::string twice;
  append_json(twice, *again, whole);
  json_fuzz::require(once == twice);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const body{reinterpret_cast<char const*>(data), size};
  auto const whole = listen(body, size + 1);
  json_fuzz::require(listen(body, 1) == whole && listen(body, 7) == whole);
  for (auto const& event : whole.first) read_row(std::get<1>(event));
  return 0;
}
