// GameServer and GameServerList: text to value and back, and the patch of one.
#include "json_reading.hpp"

#include <agones_alloc/json/merge_patch.hpp>
#include <agones_alloc/json/read_game_server.hpp>
#include <agones_alloc/json/write.hpp>

using namespace agones_alloc;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const value = json_fuzz::input(data, size);
  if (!value) return 0;
  (void)read_game_server_list(*value);
  (void)read_game_server_template(*value);
  json_fuzz::round_trip(
      *value,
      [](auto const& v, json_read_options const& options) {
        auto server = read_game_server(v, options);
        // Its word is not kept, by design.
        if (server && server->status.state == game_server_state::other) server->status.state = game_server_state::error;
        return server;
      },
      [](game_server const& server) {
        json_fuzz::reparsed(merge_patch({}, server));
        json_fuzz::reparsed(merge_patch(server, {}));
        return to_json(server);
      },
      [](game_server& server) {
        json_fuzz::forget_texts(server.meta);
        server.spec = {};
      });
  return 0;
}
