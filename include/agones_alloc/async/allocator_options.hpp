// What an allocator can be told: once at construction, and per call.
#pragma once

#include <agones_alloc/async/gate_request.hpp>
#include <agones_alloc/cache/ranked_index.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/allocation_fsm.hpp>
#include <agones_alloc/flow/backoff.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/metrics.hpp>
#include <agones_alloc/port/recorder.hpp>
#include <agones_alloc/port/server_observer.hpp>
#include <agones_alloc/port/timer.hpp>
#include <agones_alloc/select/claim.hpp>
#include <agones_alloc/select/request.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

class readiness_gate;

/// Of request ids, and of claims that have to be confirmed.
struct claim_options {
  bool sweep{true};                        ///< ends claims that were not confirmed in time; safe on several replicas
  release_to expired_to{release_to::ready};  ///< where their servers go
  /// So long a confirmed id is known, and its server given to whoever asks with it again. It is forgotten earlier with its
  /// server, with its release, and where a server has more than 256 of them.
  std::chrono::nanoseconds remember{std::chrono::hours{24}};
};

struct allocator_options {
  feature_gates gates;                        ///< for requests that the allocator compiles
  choice_options choice;                      ///< the same: how to choose where a call does not say
  std::chrono::nanoseconds timeout{std::chrono::seconds{30}};  ///< of a call that brings none; positive
  std::shared_ptr<retry_policy const> retry;  ///< null: the reference's, 5 attempts 10 ms apart (spec 6.1)
  allocation_limits limits;                   ///< waiting for busy servers, reading back unknown writes
  std::size_t max_operations{65536};          ///< calls at once; one more ends as `contention` at once (Q34)
  std::size_t max_waiting{10'000};            ///< calls that wait for a server at once; one more ends as `contention` at once
  std::size_t max_waiting_alike{10'000};      ///< the same, of calls with a selector and ranking in common
  std::size_t max_writes{4096};               ///< servers claimed at once; calls beyond it queue in order
  std::size_t batch{512};                     ///< events handled in one turn of the loop
  /// A call found no server, whether it waits or not: make some, if more are wanted. `waiting` calls wait at present, this one
  /// not counted. Called on the allocator's executor, each time; must not block and must not throw.
  std::function<void(allocation_request const&, std::size_t waiting)> on_exhausted{};
  std::chrono::nanoseconds overload_retry_after{std::chrono::milliseconds{100}};  ///< advice to calls refused so
  bool breakdown{true};                       ///< `exhausted` carries one
  std::chrono::nanoseconds breakdown_age{std::chrono::milliseconds{100}};  ///< up to this old, for equal requests;
                                                                 ///< older where looking would take more than a tenth of the time
  index_options index;
  claim_options claims;
};

/// Throws std::invalid_argument naming the option that is out of range.
AGONES_ALLOC_DECL void check(allocator_options const&);

/// Where an allocator reports to. Null: nowhere. Each must outlive the allocator and its operations.
struct allocator_ports {
  recorder* events{nullptr};
  metrics* counts{nullptr};
  logger* log{nullptr};
  server_observer* observer{nullptr};  ///< is told what the store has after each write, as soon as that is known
  readiness_gate* gate{nullptr};       ///< null: a server is Allocated by the allocation's one write
};

/// Per call.
struct allocate_options {
  /// The earlier of both counts; neither: allocator_options::timeout.
  std::optional<timer::time_point> deadline;
  std::optional<std::chrono::nanoseconds> timeout;
  /// Where no server matches: waits for one so long, but not beyond the deadline, in a queue: whoever came first gets the
  /// first server that fits. 0: ends as `exhausted` at once.
  std::chrono::nanoseconds wait_for{0};
  /// Makes the call repeatable: the same id and request again give the same server, from any replica that has seen the
  /// first one's write, without another write; the same id with another request is `invalid`. Calls that come while one is under
  /// way wait for it. 1 to 256 visible ASCII characters; "" for none. It is of the request's namespace.
  shared_string request_id{};
  /// Unless the claim is confirmed within this time of the write, by async_confirm or by the game (keys::sdk_confirmed), it ends:
  /// what the allocation put on the server is taken back, and the server goes where claim_options::expired_to says.
  /// Without a request_id one is drawn: allocation_result::claim. Nullopt: the claim needs no confirmation.
  std::optional<std::chrono::nanoseconds> claim_ttl{};
  /// Set by who asks elsewhere where this fails, and counts the whole then: to when it began. Only success is counted
  /// here, from that time on, as of several clusters.
  std::optional<timer::time_point> tentative_since{};
  /// With async_decide: is filled, before the call completes, with how many servers there are for the request, the first
  /// `room_names` of them and the breakdown, and no server is chosen. `allocated`: there are some (the result names none);
  /// `contention`: all that match are being written; `exhausted`.
  std::shared_ptr<room_report> room{};
  std::size_t room_names{5};
  /// Of the readiness gate, where the allocator has one; null: as the fleet's template or the gate's own settings say.
  std::shared_ptr<gate_request const> gate{};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/allocator_options.ipp>
#endif
