// Allocations, and the same PATCHes from a bare loop, in turns.
#pragma once

#include "allocate.hpp"

#include <agones_alloc/json/merge_patch.hpp>
#include <agones_alloc/select/apply.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// PATCHes whose bytes are there before the first one is sent, about servers that nobody watches. Of the answers only
/// the status is looked at.
class raw_patches {
 public:
  raw_patches(environment& env, stock& servers, std::size_t callers) : env_{env}, client_{env.make_client(callers)} {
    auto const request = wanted(servers.ns());
    for (auto const& server : servers.list()) {
      auto desired = *server;
      agones_alloc::apply_allocation(desired, request->allocation().spec, {}, env.time.wall_now());
      auto target = agones_alloc::object_path(stock::kind, servers.ns(), server->meta.name.view());
      agones_alloc::add_query(target, "fieldManager", agones_alloc::kubernetes_store_options{}.field_manager);
      ready_.push_back(bench::request("PATCH", std::move(target), agones_alloc::merge_patch(*server, desired),
                                      "application/merge-patch+json"));
    }
    warm_up(env, *client_, callers);
  }

  auto send(std::size_t count, std::size_t callers) -> loop_figures {
    auto const first = sent_;
    sent_ += count;
    return closed_loop(env_.io, count, callers, [&](std::size_t i, std::size_t, auto done) {
      client_->async_request(ready_.at(first + i), [done](agones_alloc::error_code ec, agones_alloc::client_response const& answer) {
        expect(ec, answer, {200}, "a raw PATCH");
        done();
      });
    });
  }

  void stop() {
    client_->close();
    env_.io.restart();
    env_.io.poll();
  }

 private:
  environment& env_;
  std::unique_ptr<agones_alloc::pooled_http_client> client_;
  std::vector<agones_alloc::client_request> ready_;
  std::size_t sent_{0};
};

struct rate_figures {
  loop_figures ours;
  loop_figures raw;
  std::uint64_t patches{0};
  std::uint64_t conflicts{0};
  tally seen;
};

/// Both stocks are full before. Slices of four calls a caller, ours first and raw first by turns.
inline auto measure_rate(environment& env, stock& watched, stock& unwatched, std::size_t count, std::size_t callers) -> rate_figures {
  rate_figures out;
  raw_patches raw{env, unwatched, callers};
  std::vector<asked_replica> replicas;
  replicas.push_back({std::make_unique<replica>(env, replica_options{watched.ns(), callers}), wanted(watched.ns())});
  auto& ours = *replicas.front().it;
  ours.sync();
  ours.warm_up(callers);
  auto const slice = std::max<std::size_t>(4 * callers, 50);
  bool raw_first = false;
  for (std::size_t done = 0; done < count; done += slice) {
    auto const part = std::min(slice, count - done);
    if (raw_first) out.raw.add(raw.send(part, callers));
    out.ours.add(allocate(env, replicas, part, callers, out.seen));
    if (!raw_first) out.raw.add(raw.send(part, callers));
    raw_first = !raw_first;
  }
  out.patches = ours.patches();
  out.conflicts = ours.conflicts();
  ours.stop();
  raw.stop();
  out.seen.check(watched);
  return out;
}

}  // namespace bench
