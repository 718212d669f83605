// Game servers and requests for the tests of cache and index.
#pragma once

#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/select/request.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace cache_tests {

using namespace agones_alloc;

/// Builds a Ready server of namespace "default", fleet "f", node "n1", UID "u-<name>" at resource version 1.
class server_builder {
 public:
  explicit server_builder(std::string_view name) {
    server_.meta.name = name;
    server_.meta.namespace_ = "default";
    server_.meta.uid = "u-" + std::string{name};
    server_.meta.resource_version = "1";
    server_.meta.labels = {{keys::fleet_label, "f"}};
    server_.status.state = game_server_state::ready;
    server_.status.node_name = "n1";
  }
  explicit server_builder(game_server const& like) : server_{like} {}

  auto ns(std::string_view text) -> server_builder& { return server_.meta.namespace_ = text, *this; }
  auto uid(std::string_view text) -> server_builder& { return server_.meta.uid = text, *this; }
  auto version(std::string_view text) -> server_builder& { return server_.meta.resource_version = text, *this; }
  auto node(std::string_view text) -> server_builder& { return server_.status.node_name = text, *this; }
  auto state(game_server_state value) -> server_builder& { return server_.status.state = value, *this; }
  auto allocated() -> server_builder& { return state(game_server_state::allocated); }
  auto label(std::string_view key, std::string_view value) -> server_builder& {
    return server_.meta.labels.set(key, value), *this;
  }
  auto counter(std::string_view name, std::int64_t count, std::int64_t capacity) -> server_builder& {
    return server_.status.counters[name] = {count, capacity}, *this;
  }
  auto created(std::int64_t seconds) -> server_builder& {
    return server_.meta.creation_timestamp = timestamp{std::chrono::seconds{seconds}}, *this;
  }
  auto made() const -> game_server_ptr { return std::make_shared<game_server const>(server_); }
  auto value() noexcept -> game_server& { return server_; }

 private:
  game_server server_;
};

/// The same server, changed once more.
inline auto next_version(game_server const& server) -> server_builder {
  server_builder out{server};
  out.version(std::to_string(std::stoull(server.meta.resource_version.str()) + 1));
  return out;
}

inline auto request_of(game_server_allocation gsa, choice_options choice = {}, feature_gates gates = {}) -> request_ptr {
  auto made = allocation_request::make(std::move(gsa), gates, std::move(choice));
  return std::get<request_ptr>(made);
}

/// Of namespace "default", for one selector with these labels.
inline auto request_for(string_map labels, std::string_view scheduling = "Packed", choice_options choice = {}) -> request_ptr {
  game_server_allocation gsa;
  gsa.meta.namespace_ = "default";
  gsa.spec.scheduling = scheduling;
  gsa.spec.selectors.emplace_back();
  gsa.spec.selectors.back().labels.match_labels = std::move(labels);
  return request_of(std::move(gsa), std::move(choice));
}

inline auto fleet_request(std::string_view scheduling = "Packed", choice_options choice = {}) -> request_ptr {
  return request_for({{keys::fleet_label, "f"}}, scheduling, std::move(choice));
}

}  // namespace cache_tests
