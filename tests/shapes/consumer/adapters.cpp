// A user's program that needs the adapters too: it reads Kubernetes JSON.
#include <agones_alloc/json/read_game_server.hpp>

#include <boost/json/parse.hpp>

#include <cstdio>

auto main() -> int {
  auto const text = R"({"apiVersion": "agones.dev/v1", "kind": "GameServer",
    "metadata": {"name": "one", "namespace": "default"}, "status": {"state": "Ready"}})";
  auto const server = agones_alloc::read_game_server(boost::json::parse(text));
  if (!server || server->status.state != agones_alloc::game_server_state::ready) return 1;
  std::puts("one server read");
  return 0;
}
