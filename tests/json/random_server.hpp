// Game servers from a seed, small enough that two of them often share keys.
#pragma once

#include <agones_alloc/model/game_server.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace json_tests {

class random_server {
 public:
  explicit random_server(std::uint64_t seed) noexcept : state_{seed} {}

  auto make() -> agones_alloc::game_server {
    agones_alloc::game_server out;
    out.meta.name = "gs";
    out.meta.uid = "uid-1";
    out.meta.resource_version = "41";
    out.meta.labels = strings();
    out.meta.annotations = strings();
    out.spec = R"({"container":"c"})";
    fill(out.status);
    return out;
  }
  void fill(agones_alloc::game_server_status& out) {
    out.state = static_cast<agones_alloc::game_server_state>(below(12));
    for (auto n = below(3); n > 0; --n) out.ports.push_back({text(), static_cast<std::int32_t>(below(65536))});
    out.address = text();
    for (auto n = below(3); n > 0; --n) out.addresses.push_back({text(), text()});
    out.node_name = text();
    if (below(2) == 0) out.reserved_until = agones_alloc::timestamp{std::chrono::seconds{below(4'000'000'000)}};
    if (below(2) == 0) {
      agones_alloc::player_status players{number(), number(), {}};
      for (auto n = below(3); n > 0; --n) players.ids.push_back(text());
      out.players = std::make_shared<agones_alloc::player_status const>(players);
    }
    for (auto n = below(4); n > 0; --n) out.counters[name()] = {number(), number()};
    for (auto n = below(4); n > 0; --n) {
      auto& list = out.lists[name()];
      list.capacity = number();
      if (below(3) == 0) continue;
      list.values.emplace();
      for (auto m = below(3); m > 0; --m) list.values->push_back(text());
    }
    if (below(3) == 0) out.eviction_safe = "Always";
  }
  auto below(std::uint64_t bound) -> std::uint64_t { return next() % bound; }

 private:
  auto next() -> std::uint64_t {  // splitmix64
    auto z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27U) * 0x94d049bb133111ebULL;
    return z ^ z >> 31U;
  }
  auto name() -> std::string { return std::string{"k"} + static_cast<char>('a' + below(4)); }
  auto text() -> std::string {
    static std::string const pieces[] = {"", "a", "\"", "\\", "\n", "\xc3\xbc", "{", "]", ",", "zz", std::string(1, '\0'), "\xf0\x9f\x98\x80"};
    std::string out;
    for (auto n = below(4); n > 0; --n) out += pieces[below(12)];
    return out;
  }
  auto number() -> std::int64_t {
    auto const bits = next();
    return below(2) == 0 ? static_cast<std::int64_t>(bits) : static_cast<std::int64_t>(bits % 10);
  }
  auto strings() -> agones_alloc::string_map {
    agones_alloc::string_map out;
    for (auto n = below(4); n > 0; --n) out.set(name(), text());
    return out;
  }

  std::uint64_t state_;
};

}  // namespace json_tests
