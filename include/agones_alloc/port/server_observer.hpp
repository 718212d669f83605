// Port: who is told of every value of a game server that becomes known.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <span>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Fed where the ready cache is fed: by the reflector with what is listed and watched, whatever its state, and by the
/// allocator with what its writes have made of a server, so that this is known at once. Values may come twice and out
/// of order: what is newer is told by `is_newer`. `fleet_directory` is one.
///
/// Called on any thread, perhaps on several at once; must not block, must not throw, and must not call back into who
/// calls.
class server_observer {
 public:
  virtual ~server_observer() = default;
  /// A value that was written, read or watched; not null.
  virtual void stored(game_server_ptr const& server) = 0;
  /// A server was deleted; with `uid` "": whatever has that name.
  virtual void erased(object_key const& key, std::string_view uid) = 0;
  /// A complete list with its own version: what is not in it is gone.
  virtual void replaced(std::span<game_server_ptr const> servers, std::string_view version) = 0;

  /// The source of lists and events has failed again and again, the last time for this reason: until regained() or
  /// replaced(), what was told of others' changes are old values.
  virtual void lost(error_code) {}
  /// After lost(): events go on without a gap.
  virtual void regained() {}
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
