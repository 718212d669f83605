// Tickets as HTTP requests, and what the answers mean. No I/O.
#pragma once

#include <agones_alloc/beast/client/client_message.hpp>
#include <agones_alloc/beast/client/ticket.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/flow/ticket_fsm.hpp>
#include <agones_alloc/select/claim.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What an answer says, for the state machine and for the caller.
struct ticket_news {
  ticket_answer answer{ticket_answer::unknown};
  game_server_ptr server{};
  int code{0};
  std::string message{};
  std::vector<std::string> not_undone{};
  std::chrono::nanoseconds retry_after{0};
};

/// POST /gameserverallocation with Idempotency-Key, Agones-Alloc-Claim-TTL and Prefer. `wait` in whole seconds, rounded up; a claim_ttl
/// that is no whole number of seconds goes as a Go duration.
AGONES_ALLOC_DECL auto allocate_exchange(std::string body, std::string_view id, std::chrono::nanoseconds claim_ttl,
                                         std::chrono::nanoseconds wait) -> client_request;
/// POST /v1/claims/ID:confirm or :release. `to` counts for a release.
AGONES_ALLOC_DECL auto claim_exchange(ticket_step, std::string_view ns, std::string_view id, release_to to) -> client_request;

/// Of an allocation.
AGONES_ALLOC_DECL auto judge_allocation(error_code, client_response const&, shared_string const& ns, feature_gates,
                                        std::vector<int> const& exhausted_codes) -> ticket_news;
/// Of a confirmation or release. `told`: the server that the caller knows, "" for none; another one is ticket_answer::other.
AGONES_ALLOC_DECL auto judge_claim(error_code, client_response const&, shared_string const& ns, std::string_view told) -> ticket_news;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/ticket_exchange.ipp>
#endif
