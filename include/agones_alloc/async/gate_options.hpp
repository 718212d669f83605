// What a readiness gate can be told at construction, and how a wait at it ended.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/gate_fsm.hpp>
#include <agones_alloc/flow/gate_settings.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/metrics.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/readiness_probe.hpp>
#include <agones_alloc/port/recorder.hpp>
#include <agones_alloc/port/server_observer.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct gate_options {
  gate_settings otherwise;   ///< where neither request nor fleet says anything; off by default
  std::string owner;         ///< this replica, among those that share the servers; "": drawn. The same after a restart: no takeover
  gate_limits limits;
  std::size_t max_calls{65536};     ///< calls at once that wait for pending servers; while there are so many, one that comes ends as `contention` at once
  std::size_t max_probes{1024};     ///< checks under way at once
  std::size_t max_probes_per_host{32};
  std::size_t max_streams{10'000};        ///< source sse: open at once
  std::size_t max_streams_per_host{128};
  std::size_t remembered{10'000};   ///< ended waits whose end is still told by id
};

/// Throws std::invalid_argument naming the option that is out of range.
AGONES_ALLOC_DECL void check(gate_options const&);

/// Where a gate reports to, and asks. Null: nowhere. Each must outlive the gate.
struct gate_ports {
  recorder* events{nullptr};
  metrics* counts{nullptr};
  logger* log{nullptr};
  server_observer* observer{nullptr};  ///< is told all that the gate is told, and what its own writes have made
  random_source* secrets{nullptr};     ///< of tokens for the source webhook; null: the gate's own, which somebody may foresee
  readiness_probe* probe{nullptr};     ///< for the sources that ask; what it cannot ask by is refused
};

/// How the wait for one server ended.
struct gate_result {
  gate_end end{gate_end::gone};
  bool known{true};        ///< false: it has not ended yet, and the time to wait has
  game_server_ptr server;  ///< as last known; with `ready`, Allocated
  shared_string id;        ///< of the allocation
  std::vector<std::string> not_undone;      ///< with ReturnToReady: what could not be taken back
  std::chrono::nanoseconds took{0};         ///< since the server was pending
};

/// `ready`, `timed_out`, ...: for logs, metrics and answers.
AGONES_ALLOC_DECL auto to_string(gate_end) noexcept -> std::string_view;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/gate_options.ipp>
#endif
