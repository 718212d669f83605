// What the sinks of events have been told of, kept in a file for the next run.
#pragma once

#include <agones_alloc/model/game_server.hpp>

#include <string>
#include <thread>
#include <vector>

namespace agones_alloc_server {

/// Game servers by name, UID, version, labels and state; a line of JSON each.
class event_state {
 public:
  using servers = std::vector<agones_alloc::game_server_ptr>;

  /// `path` "": nothing is kept.
  explicit event_state(std::string path) : path_{std::move(path)} {}
  ~event_state();
  event_state(event_state const&) = delete;
  auto operator=(event_state const&) -> event_state& = delete;

  auto used() const noexcept -> bool { return !path_.empty(); }
  /// What an earlier run kept; false when there is nothing, with `problem` "" or saying why it cannot be used.
  auto load(servers& out, std::string& problem) const -> bool;
  /// On a thread of its own, in place of what was kept, all or nothing. Waits for the last one to end.
  void keep(servers);
  /// Waits for the last `keep`; what was wrong with it, "" for nothing.
  auto finish() -> std::string;

 private:
  std::string path_;
  std::thread writer_;
  std::string problem_;  ///< the writer's, until it is joined
};

}  // namespace agones_alloc_server
