// A user's program that only needs the core.
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/select/match.hpp>

#include <cstdio>

auto main() -> int {
  auto server = agones_alloc::game_server{};
  server.status.state = agones_alloc::game_server_state::ready;
  auto selector = agones_alloc::compiled_selector{};
  selector.state = agones_alloc::game_server_state_from("Ready");
  if (!agones_alloc::matches(selector, server)) return 1;
  selector.state = agones_alloc::game_server_state_from("Allocated");
  if (agones_alloc::matches(selector, server)) return 1;
  std::puts(make_error_code(agones_alloc::errc::exhausted).message().c_str());
  return 0;
}
