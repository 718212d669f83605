// Knows what really happened, and compares it with what was promised and told.
#pragma once

#include "api_server.hpp"
#include "world.hpp"

#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/select/claim.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simulation {

enum class shape : std::uint8_t { any_solo, map_solo, room };  ///< rooms are shared, the others are not

/// A server that was written to be somebody's.
struct holding {
  std::string uid;
  nanos decided{0};      ///< when the replica chose it
  bool told{false};      ///< the caller knows: a session
  bool confirmed{false};
  bool ended{false};
};

/// One id, and whoever asks with it.
struct claimant {
  std::string id;
  shape wants{shape::any_solo};
  bool plain{false};  ///< without id and expiry: known by its label only
  std::optional<nanos> ttl;
  bool game_confirms{false};
  std::int64_t rooms{1};   ///< so many of a shared server
  bool exact{false};       ///< they have to fit as a whole
  int open{0};             ///< calls for it at work in replicas
  bool answered{false};    ///< an answer was a server
  bool unsure{false};      ///< an answer was `unknown`, or did not arrive
  bool impatient{false};   ///< asked elsewhere before everybody could know: two servers are possible
  bool releasing{false};
  bool misused{false};
  nanos last_end{0};       ///< of a call
  std::vector<holding> holdings;

  auto held_at(std::string_view uid) -> holding*;
  auto live() const -> std::size_t;  ///< holdings that have not ended
};
using claimant_ptr = std::shared_ptr<claimant>;

class oracle {
 public:
  oracle(world& w, api_server& api);

  auto enroll(claimant) -> claimant_ptr;
  auto known(std::string_view id) const -> claimant_ptr;

  /// A call for it begins in a replica, and has ended there.
  void begun(claimant&);
  void ended(claimant&, bool allocates, outcome);
  /// Its caller learns of a server, of a confirmation, of a release.
  void told_allocated(claimant&, game_server const&);
  void told_confirmed(claimant&, game_server const&);
  void told_released(claimant&, game_server const&);
  /// Its caller learns that there is no such claim; from a replica that must know.
  void told_not_found(claimant const&);

  /// When all has come to rest.
  void check_rest();
  /// The game has said, or is about to write, that players of this allocation can join.
  void game_is_ready(std::string_view uid, std::string_view id) { ready_.insert(std::string{uid} + " " + std::string{id}); }

 private:
  using claims = std::map<std::string, claim_record, std::less<>>;

  void changed(game_server const* before, game_server const* after, origin const&);
  void changed_claims(game_server const& before, game_server const& after, origin const&);
  void changed_pending(game_server const& before, game_server const& after, origin const&);
  void taken(claimant&, game_server const& before, origin const&);
  void lost(claimant&, claim_record const&, game_server const& before);
  void check_server(game_server const&);
  void check_free(game_server const&);
  void check_settled(game_server const&);
  void end_all(std::string_view uid);
  auto holders_of(std::string_view uid) -> std::vector<claimant*>;

  world& world_;
  api_server& api_;
  std::map<std::string, claimant_ptr, std::less<>> claimants_;
  std::map<std::string, std::vector<claimant*>, std::less<>> by_uid_;
  std::set<std::string, std::less<>> ready_;  ///< uid and id of allocations whose games are ready
};

}  // namespace simulation
