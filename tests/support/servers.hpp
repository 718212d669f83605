// Game servers and requests for tests.
#pragma once

#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/select/request.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace test_support {

using namespace agones_alloc;

inline auto make_server(std::string_view name, std::string_view fleet = "fleet",
                        game_server_state state = game_server_state::ready, std::string_view node = "node-1")
    -> game_server {
  game_server server;
  server.meta.name = name;
  server.meta.namespace_ = "default";
  server.meta.uid = std::string{name} + "-uid";
  server.meta.resource_version = "1";
  server.meta.labels.set(keys::fleet_label, fleet);
  server.status.state = state;
  server.status.address = "10.0.0.1";
  server.status.node_name = node;
  server.status.ports.push_back({"default", 7000});
  return server;
}

inline auto share(game_server server) -> game_server_ptr { return std::make_shared<game_server const>(std::move(server)); }

inline auto fleet_allocation(std::string_view fleet = "fleet") -> game_server_allocation {
  game_server_allocation wanted;
  wanted.meta.namespace_ = "default";
  game_server_selector selector;
  selector.labels.match_labels.set(keys::fleet_label, fleet);
  wanted.spec.selectors.push_back(std::move(selector));
  return wanted;
}

inline auto compile_request(game_server_allocation wanted, choice_options choice = {}) -> request_ptr {
  auto made = allocation_request::make(std::move(wanted), {}, std::move(choice));
  if (auto* const errors = std::get_if<field_errors>(&made)) throw std::logic_error{to_string(*errors)};
  return std::get<request_ptr>(std::move(made));
}

inline auto fleet_request(std::string_view fleet = "fleet") -> request_ptr { return compile_request(fleet_allocation(fleet)); }

inline auto key(std::string_view name) -> object_key { return {"default", name}; }

}  // namespace test_support
