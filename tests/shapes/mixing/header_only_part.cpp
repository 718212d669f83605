// Half of a program that takes the header-only shape, and hands a value to the other half.
#include <agones_alloc/model/game_server.hpp>

auto ready_port(agones_alloc::game_server const& server) -> int;

auto main() -> int { return ready_port(agones_alloc::game_server{}); }
