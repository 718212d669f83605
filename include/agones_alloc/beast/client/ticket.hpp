// What a matchmaker asks a server of ours for, and what comes of it.
#pragma once

#include <agones_alloc/beast/client/client_options.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/ticket_fsm.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/port/logger.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// One wish for one game server.
struct ticket {
  game_server_allocation allocation{};  ///< with its namespace; before defaults
  /// The same for every try, and for a later call that is to get the same server: 1 to 256 visible ASCII characters. "": one is
  /// drawn, and told in ticket_result::id.
  std::string id{};
  /// Waits for a server where none matches. Where a server's own --max-wait is shorter it is asked again, at the queue's end.
  std::chrono::nanoseconds wait{0};
  /// The server is given back unless the claim is confirmed within this time: of a matchmaker that dies no server is lost. 0: none.
  std::chrono::nanoseconds claim_ttl{std::chrono::seconds{30}};
  /// Confirm at once. False: async_confirm later, or the game does.
  bool confirm{true};
  /// For everything, tries and pauses included, besides `wait`.
  std::chrono::nanoseconds timeout{std::chrono::seconds{30}};
};

/// `result`:
///   allocated     `server` is the caller's: confirmed, where that was asked for. Of async_confirm and async_release: it is done
///   exhausted     nothing matches, also not after the wait; of a claim: there is none (errc::not_found)
///   contention, unavailable   nothing was taken; the time was up before anything better was heard
///   invalid, refused   `message` says why; trying again is of no use
///   cancelled, deadline   nothing was taken
///   unknown       a server may have been taken, and `server` is set if it is known which. Ask again with `id`, or release it; with
///                 a claim_ttl it comes back by itself
struct ticket_result {
  outcome result{outcome::unavailable};
  game_server_ptr server{};     ///< name, address, ports, and what else the answer tells; of a claim only name, namespace and state
  std::string id{};             ///< of the claim
  bool confirmed{false};        ///< the claim does not expire, or never would
  std::uint32_t tries{0};       ///< requests sent
  int code{0};                  ///< the last HTTP status; 0: none
  std::string message{};        ///< why not, in words
  std::string endpoint{};       ///< host:port that was asked last
  std::vector<std::string> not_undone{};    ///< of a release: what could not be taken back
  std::chrono::nanoseconds retry_after{0};  ///< with contention and unavailable: when trying again may help
};

struct matchmaker_client_options {
  /// Replicas of one server, asked in this order: the one that answered last is asked first the next time.
  std::vector<client_endpoint> endpoints{};
  std::chrono::nanoseconds try_time{std::chrono::seconds{10}};  ///< the most one request may take, besides its wait
  ticket_rules rules{};
  std::size_t most{1024};              ///< calls at once; one more ends as `contention` at once
  feature_gates gates{};               ///< for the requests
  std::vector<int> exhausted_codes{};  ///< the server's --http-unallocated-status-code, where it is not 429 or 200
  client_options http{};
  logger* log{nullptr};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
