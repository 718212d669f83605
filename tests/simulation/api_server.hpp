// A model of the Kubernetes API server: game servers with optimistic locking, a history for watches, compaction.
#pragma once

#include "world.hpp"

#include <agones_alloc/error.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/port/server_source.hpp>
#include <agones_alloc/port/store.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace simulation {

/// Who wrote, and when that was decided.
struct origin {
  std::string who;
  bool replica{false};
  nanos decided{0};
};

struct numbered_event {
  std::uint64_t version{0};
  server_event event;
};

/// Everything takes effect at once; what takes time is the way to it and back.
class api_server {
 public:
  /// Either is null where there is none.
  using observer = std::function<void(game_server const* before, game_server const* after, origin const&)>;

  api_server(world& w, std::uint64_t first_version) : world_{w}, version_{first_version}, floor_{first_version} {}

  void on_change(observer what) { observers_.push_back(std::move(what)); }

  /// The optimistic write of a replica.
  auto update(update_request const&, origin const&) -> std::pair<error_code, game_server_ptr>;
  auto read(std::string_view name) const -> game_server_ptr;  ///< null when absent
  auto list() const -> std::vector<game_server_ptr>;
  auto version() const noexcept -> std::uint64_t { return version_; }
  /// What came after that version; nullopt when it was compacted.
  auto since(std::uint64_t version) const -> std::optional<std::vector<numbered_event>>;
  void compact(std::uint64_t kept_changes);

  void create(game_server, origin const&);
  /// Whoever else writes: on what is there now. False when that is another server or none.
  auto modify(std::string_view name, std::string_view uid, origin const&, std::function<void(game_server&)> const& change) -> bool;
  void remove(std::string_view name, origin const&);

 private:
  void put(game_server, origin const&);
  void note(server_event::kind, game_server_ptr);
  void break_write(game_server const& before, game_server& after) const;

  world& world_;
  std::map<std::string, game_server_ptr, std::less<>> servers_;
  std::vector<numbered_event> history_;
  std::vector<observer> observers_;
  std::uint64_t version_;
  std::uint64_t floor_;  ///< watches from older versions are too old
};

}  // namespace simulation
