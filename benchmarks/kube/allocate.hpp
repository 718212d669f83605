// Allocations from replicas until so many servers are handed out, and whether each of them was handed out once.
#pragma once

#include "loop.hpp"
#include "replica.hpp"
#include "stock.hpp"

#include <agones_alloc/select/request.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

inline auto wanted(std::string const& ns, agones_alloc::choice_options choice = {}) -> agones_alloc::request_ptr {
  agones_alloc::game_server_allocation gsa;
  gsa.meta.namespace_ = ns;
  gsa.spec.selectors.emplace_back().labels.match_labels.set(agones_alloc::keys::fleet_label, "simple");
  auto made = agones_alloc::allocation_request::make(std::move(gsa), {}, std::move(choice));
  if (auto* const request = std::get_if<agones_alloc::request_ptr>(&made)) return *request;
  throw std::runtime_error{"the request is invalid: " + to_string(std::get<agones_alloc::field_errors>(made).front())};
}

/// A replica, and what is asked of it.
struct asked_replica {
  std::unique_ptr<replica> it;
  agones_alloc::request_ptr request;
};

/// What became of all allocations of a measurement.
class tally {
 public:
  std::size_t unallocated{0};  ///< `exhausted` although a server was left: there are no more calls than servers
  std::size_t contended{0};    ///< answers `contention`: the caller asked again
  std::size_t unavailable{0};  ///< answers `unavailable`, of an API server that is too busy: the same

  void took(std::string name) {
    if (!names_.insert(name).second) throw std::runtime_error{"handed out twice: " + name};
  }
  auto allocated() const -> std::size_t { return names_.size(); }

  /// Compares with what the API server holds.
  void check(stock& servers) const {
    auto const held = servers.allocated();
    if (held != names_.size()) {
      throw std::runtime_error{std::to_string(names_.size()) + " servers were handed out, but " + std::to_string(held) + " are allocated"};
    }
  }

 private:
  std::set<std::string> names_;
};

/// Before a caller who was told `contention` or `unavailable` asks again.
inline constexpr std::chrono::milliseconds patience{200};
/// So many answers `unavailable` in a measurement: the API server is gone rather than busy.
inline constexpr std::size_t max_unavailable{1000};

/// `count` servers by `callers` callers, spread over the replicas.
inline auto allocate(environment& env, std::vector<asked_replica>& replicas, std::size_t count, std::size_t callers, tally& seen)
    -> loop_figures {
  using agones_alloc::outcome;
  std::function<void(asked_replica&, std::function<void()>)> const call = [&](asked_replica& from, std::function<void()> done) {
    auto answered = [&, done = std::move(done)](agones_alloc::error_code ec, agones_alloc::allocation_result result) {
      if (result.result == outcome::allocated) {
        seen.took(std::string{result.server->meta.name.view()});
      } else if (result.result == outcome::contention ||
                 (result.result == outcome::unavailable && seen.unavailable < max_unavailable)) {
        ++(result.result == outcome::contention ? seen.contended : seen.unavailable);
        auto const pause = std::max<std::chrono::nanoseconds>(result.retry_after, patience);
        return env.time.async_wait_until(env.time.now() + pause, [&call, &from, done](agones_alloc::error_code) { call(from, done); });
      } else if (result.result == outcome::exhausted) {
        ++seen.unallocated;
      } else {
        throw std::runtime_error{"an allocation ended as " + std::string{to_string(result.result)} + ": " + ec.message() + ' ' +
                                 std::string{result.server_message.view()}};
      }
      done();
    };
    from.it->allocator().async_allocate(from.request, {}, std::move(answered));
  };
  return closed_loop(env.io, count, callers, [&](std::size_t, std::size_t caller, auto done) {
    call(replicas[caller % replicas.size()], std::move(done));
  });
}

}  // namespace bench
