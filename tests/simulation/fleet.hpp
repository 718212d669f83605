// The game servers: made, replaced, disturbed; and the games on them, which confirm, end and crash.
#pragma once

#include "api_server.hpp"
#include "oracle.hpp"
#include "world.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace simulation {

class fleet {
 public:
  fleet(world&, api_server&, oracle&);

  /// Makes the first servers; from then on each that is gone is replaced.
  void start();
  auto size() const noexcept -> std::size_t { return places_; }
  /// A sidecar writes something that has nothing to do with anything.
  void disturb();
  /// A server is taken away, whatever it does.
  void take_away();

 private:
  void changed(game_server const* before, game_server const* after);
  void make(std::string const& place);
  /// The game is told to get ready, and does, or does not.
  void get_ready(std::string const& name, std::string const& uid, std::string const& id);
  void answer(std::string const& name, std::string const& uid, std::string const& id, std::uint64_t what);
  void begin_game(std::string const& name, std::string const& uid, std::uint64_t session);
  void confirm(std::string const& name, std::string const& uid, std::uint64_t session);
  void end_game(std::string const& name, std::string const& uid, std::uint64_t session);
  void remove_later(std::string const& name, std::string const& uid);
  auto any_server() -> game_server_ptr;
  auto plays(std::string const& name, std::string const& uid, std::uint64_t session) const -> bool;

  world& world_;
  api_server& api_;
  oracle& oracle_;
  std::size_t places_{0};
  bool same_names_;  ///< the next server of a place has the name of the last
  std::uint64_t births_{0};
  std::uint64_t sessions_{0};
  std::map<std::string, std::uint64_t, std::less<>> session_of_;  ///< by uid: counts each time it leaves Ready
};

}  // namespace simulation
