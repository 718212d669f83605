// What the reference does, on the same data: sort the whole cache once per batch of 100, then scan for each request.
#pragma once

#include "data_set.hpp"

#include <agones_alloc/port/random.hpp>
#include <agones_alloc/select/apply.hpp>
#include <agones_alloc/select/find.hpp>
#include <agones_alloc/select/rank.hpp>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bench {

struct naive_figures {
  std::size_t allocations{0};  ///< requests answered
  double seconds{0};
};

/// From a full cache to an empty one; when that would take longer than `patience`, at evenly spaced fill levels
/// (between them servers become Allocated outside the measured time).
inline auto run_naive(std::vector<game_server_ptr> cache, std::vector<request_ptr> const& requests, bool allocates,
                      std::chrono::nanoseconds patience) -> naive_figures {
  using clock = std::chrono::steady_clock;
  constexpr std::size_t batch = 100;
  std::unordered_map<std::string_view, node_load> loads;
  for (auto const& server : cache) ++loads[server->status.node_name.view()].ready;
  std::unordered_map<game_server const*, std::size_t> place;
  for (std::size_t i = 0; i < cache.size(); ++i) place.emplace(cache[i].get(), i);
  seeded_random random{1};
  naive_figures out;
  std::chrono::nanoseconds spent{0};

  auto const allocate = [&](game_server_ptr const& chosen, allocation_request const& request) {
    auto desired = std::make_shared<game_server>(*chosen);
    apply_allocation(*desired, request.allocation().spec, request.gates(), {});
    auto& load = loads[chosen->status.node_name.view()];
    --load.ready;
    ++load.allocated;
    auto const at = place.find(chosen.get());
    auto const index = at->second;
    place.erase(at);
    place.emplace(desired.get(), index);
    cache[index] = std::move(desired);
  };

  std::size_t const total = allocates ? cache.size() : 10 * batch;
  std::size_t done = 0;
  std::size_t skip = 0;
  std::size_t next_request = 0;
  std::size_t next_ready = 0;
  while (done < total) {
    auto const begin = clock::now();
    struct entry {
      game_server_ptr server;
      node_load const* load;
    };
    std::vector<entry> sorted;
    sorted.reserve(cache.size());
    for (auto const& server : cache) sorted.push_back({server, &loads.at(server->status.node_name.view())});
    auto const& order = requests[next_request % requests.size()]->shapes().front().order;
    std::sort(sorted.begin(), sorted.end(), [&](entry const& a, entry const& b) {
      return compare(*a.server, a.load, *b.server, b.load, order) < 0;
    });
    std::vector<game_server_ptr> list;
    list.reserve(sorted.size());
    for (auto& e : sorted) list.push_back(std::move(e.server));
    std::size_t answered = 0;
    for (; answered < batch && done + answered < total; ++answered) {
      auto const& request = *requests[next_request++ % requests.size()];
      if (auto const found = find(request, list, random)) {
        auto const chosen = list[found->index];
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(found->index));
        allocate(chosen, request);
      }
    }
    spent += clock::now() - begin;
    done += answered;
    out.allocations += answered;
    if (skip == 0) {
      // Measured once, at the full cache: how many batches fit into the patience?
      auto const fit = std::max<std::int64_t>(patience / std::max<std::chrono::nanoseconds>(spent, std::chrono::nanoseconds{1}), 2);
      auto const batches = (total + batch - 1) / batch;
      skip = std::max<std::size_t>(batches / static_cast<std::size_t>(fit), 1);
    }
    for (auto left = (skip - 1) * batch; allocates && left > 0 && done < total && next_ready < cache.size(); ++next_ready) {
      if (cache[next_ready]->status.state != game_server_state::ready) continue;
      auto const chosen = cache[next_ready];
      allocate(chosen, *requests.front());
      --left;
      ++done;
    }
  }
  out.seconds = std::chrono::duration<double>(spent).count();
  return out;
}

}  // namespace bench
