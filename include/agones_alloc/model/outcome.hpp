// What an allocation came to: outcome, breakdown, attempts (product: "say exactly what happened").
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/model/shared_copy.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class outcome : std::uint8_t {
  allocated,    ///< the write was acknowledged
  exhausted,    ///< nothing matches, and nothing matching is in flight
  contention,   ///< candidates exist but all are being written, or every retry lost
  invalid,      ///< refused before any change; every field error is listed
  refused,      ///< the store refused the write; its answer is passed on as it came
  unavailable,  ///< the store cannot be reached; nothing was written
  unknown,      ///< a write was sent and its fate is not known
  cancelled,    ///< the caller left before any write
  deadline,     ///< the caller's time was up before any write
};

/// snake_case name, for logs and metrics.
AGONES_ALLOC_DECL auto to_string(outcome) noexcept -> std::string_view;

/// How many servers of the namespace are left after each clause of the first selector, in
/// the order of spec 3; a mistyped label shows as the clause where the number falls to 0.
struct breakdown {
  struct clause {
    std::string name;  ///< "namespace default", "label agones.dev/fleet=x", "state Ready", "counter rooms", ...
    std::uint64_t remaining{0};
    friend auto operator==(clause const&, clause const&) -> bool = default;
  };
  std::vector<std::vector<clause>> selectors;  ///< one list of clauses per selector
  friend auto operator==(breakdown const&, breakdown const&) -> bool = default;
};

/// One try at one server or cluster.
struct attempt {
  object_key server;
  std::string cluster;   ///< "" for the local one
  std::string endpoint;  ///< "" for the local one
  outcome result{outcome::contention};
  std::string message;
  std::chrono::nanoseconds took{0};
  friend auto operator==(attempt const&, attempt const&) -> bool = default;
};

/// The value an allocation completes with. On failure it still carries all that is known.
struct allocation_result {
  outcome result{outcome::unavailable};
  game_server_ptr server;      ///< as the store acknowledged it; for `unknown`, the server written to
  std::size_t selector{0};     ///< index of the selector it matched
  std::uint32_t tries{0};      ///< updates sent
  shared_string source;        ///< "local" or an endpoint
  shared_string server_message;  ///< the store's own words
  int server_code{0};          ///< the store's HTTP code, 0 when it has none
  shared_copy<field_errors> errors;         ///< for `invalid`
  shared_copy<std::vector<std::string>> counter_errors;  ///< action errors; they never fail an allocation (spec 7)
  shared_copy<std::vector<std::string>> list_errors;
  std::shared_ptr<breakdown const> remaining;  ///< for `exhausted`
  /// Failed ones before the last; over several clusters each, the last included.
  shared_copy<std::vector<attempt>> attempts;
  shared_string claim;         ///< the id of the claim, given or drawn; "" when there is none
  bool repeated{false};        ///< an earlier call with this id got the server
  shared_copy<std::vector<std::string>> not_undone;     ///< of a release: what could not be taken back
  std::chrono::nanoseconds retry_after{0};     ///< for `contention`: when trying again may help; 0: no advice
  bool multi_cluster{false};                   ///< several clusters were asked, or were to be
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/model/outcome.ipp>
#endif
