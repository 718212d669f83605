// One allocator with Events, and several allocators without.
#pragma once

#include "allocate.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace bench {

struct events_figures {
  loop_figures ours;
  agones_alloc::event_recorder_counts events;
  double last_event_ms{0};  ///< from the last allocation's answer to the last Event's
  tally seen;
};

inline auto measure_events(environment& env, stock& servers, std::size_t count, std::size_t callers) -> events_figures {
  events_figures out;
  std::vector<asked_replica> replicas;
  // As many connections as without, and those of the recorder's writers.
  auto const connections = callers + agones_alloc::event_recorder_options{}.writers;
  replicas.push_back({std::make_unique<replica>(env, replica_options{servers.ns(), connections, true}), wanted(servers.ns())});
  auto& ours = *replicas.front().it;
  ours.sync();
  ours.warm_up(connections);
  out.ours = allocate(env, replicas, count, callers, out.seen);
  auto const begin = clock_type::now();
  while (ours.events().counts().waiting != 0) {
    bool over = false;
    env.time.async_wait_until(env.time.now() + std::chrono::milliseconds{1}, [&](agones_alloc::error_code) { over = true; });
    run_until(env.io, [&] { return over; });
  }
  out.last_event_ms = milliseconds_since(begin);
  out.events = ours.events().counts();
  ours.stop();
  out.seen.check(servers);
  return out;
}

struct replicas_figures {
  loop_figures ours;
  std::uint64_t patches{0};
  std::uint64_t conflicts{0};
  std::uint64_t early_conflicts{0};  ///< before the last tenth of the allocations
  tally seen;
};

inline auto measure_replicas(environment& env, stock& servers, std::size_t count, std::size_t callers, std::size_t number)
    -> replicas_figures {
  replicas_figures out;
  std::vector<asked_replica> replicas;
  auto const connections = (callers + number - 1) / number;
  // A conflict means that the cache is behind: the next try is the better the more the watch has told by then.
  std::shared_ptr<agones_alloc::retry_policy const> patient;
  if (number > 1) {
    patient = std::make_shared<agones_alloc::backoff>(
        agones_alloc::backoff_options{5, std::chrono::milliseconds{100}, 4.0, 0.5, std::chrono::seconds{5}});
  }
  for (std::size_t i = 0; i < number; ++i) {
    agones_alloc::choice_options choice;
    choice.top_n = static_cast<std::uint32_t>(env.want.top_n);
    if (!env.want.no_shares) choice.prefer = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(number)};
    replicas.push_back({std::make_unique<replica>(env, replica_options{servers.ns(), connections, false, i + 1, patient}),
                        wanted(servers.ns(), choice)});
    replicas.back().it->sync();
    replicas.back().it->warm_up(connections);
  }
  auto const conflicts = [&] {
    std::uint64_t sum = 0;
    for (auto const& one : replicas) sum += one.it->conflicts();
    return sum;
  };
  out.ours = allocate(env, replicas, count - count / 10, callers, out.seen);
  out.early_conflicts = conflicts();
  out.ours.add(allocate(env, replicas, count / 10, callers, out.seen));
  out.conflicts = conflicts();
  for (auto const& one : replicas) {
    out.patches += one.it->patches();
  }
  for (auto const& one : replicas) one.it->stop();
  out.seen.check(servers);
  return out;
}

}  // namespace bench
