// Half of a program that takes the compiled shape.
#include <agones_alloc/model/game_server.hpp>

auto ready_port(agones_alloc::game_server const& server) -> int { return server.status.ports.empty() ? 0 : 1; }
