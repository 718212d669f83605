#pragma once

#include <agones_alloc/flow/cluster_memory.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto digits_into(std::array<char, 20>& to, std::size_t number) noexcept -> std::string_view {
  auto* const end = std::to_chars(to.data(), to.data() + to.size(), number).ptr;
  return {to.data(), static_cast<std::size_t>(end - to.data())};
}

}  // namespace detail

AGONES_ALLOC_DECL void check(cluster_memory_options const& options) {
  check(options.breaker);
  auto const refuse = [](char const* field) {
    throw std::invalid_argument{std::string{"cluster_memory_options::"} + field + " is out of range"};
  };
  if (options.exhausted_for < std::chrono::nanoseconds{0}) refuse("exhausted_for");
  if (options.calls_probe_after < std::chrono::nanoseconds{0}) refuse("calls_probe_after");
  if (options.most_endpoints == 0) refuse("most_endpoints");
  if (options.most_shapes == 0) refuse("most_shapes");
}

AGONES_ALLOC_DECL cluster_memory::cluster_memory(cluster_memory_options options)
    : options_{(check(options), options)}, endpoints_{options.most_endpoints}, exhausted_{options.most_shapes} {}

// A policy's texts hold no byte 0.
AGONES_ALLOC_DECL auto cluster_memory::key_of(std::string_view first, std::string_view second) -> std::string_view {
  key_.assign(first).append(1, '\0').append(second);
  return key_;
}

AGONES_ALLOC_DECL auto cluster_memory::shape_key(std::string_view cluster, std::size_t shape) -> std::string_view {
  std::array<char, 20> digits;
  return key_of(cluster, detail::digits_into(digits, shape));
}

AGONES_ALLOC_DECL auto cluster_memory::ask(std::string_view cluster, std::string_view endpoint, time_point now)
    -> breaker::admission {
  auto& of = endpoints_.use(key_of(cluster, endpoint));
  auto const late = options_.calls_probe_after;
  if (of.breaker.state() == breaker_state::open && now - of.breaker.open_until() < late) return breaker::admission::no;
  return of.breaker.ask(now);
}

AGONES_ALLOC_DECL void cluster_memory::ended(std::string_view cluster, std::string_view endpoint,
                                             ended_call const& call, time_point now, double draw) {
  auto& of = endpoints_.use(key_of(cluster, endpoint));
  ++of.calls;
  of.last = call.result;
  of.message = call.message;
  of.took = call.took;
  bool const was_closed = of.breaker.state() == breaker_state::closed;
  switch (call.result) {
    case outcome::allocated:
    case outcome::exhausted:
    case outcome::contention:
    case outcome::invalid:
    case outcome::refused: of.breaker.succeeded(); break;
    case outcome::unavailable:
    case outcome::unknown:
    case outcome::deadline: of.breaker.failed(call.told, now, draw, options_.breaker); break;
    case outcome::cancelled: of.breaker.withdrawn(call.told, now); break;
  }
  // Whoever probes otherwise is to hear that a call found out in its place, and that it is to go on.
  bool const found_dead = options_.calls_probe_after.count() != 0 && call.told == breaker::admission::probe &&
                          call.result != outcome::cancelled;
  note_change(cluster, endpoint, was_closed || (found_dead && of.breaker.state() == breaker_state::open), of.breaker.state());
}

AGONES_ALLOC_DECL void cluster_memory::note_change(std::string_view cluster, std::string_view endpoint, bool was_closed,
                                                   breaker_state now) {
  constexpr std::size_t most_changes = 256;
  if (was_closed == (now == breaker_state::closed) || changes_.size() >= most_changes) return;
  changes_.push_back({std::string{cluster}, std::string{endpoint}, now});
}

AGONES_ALLOC_DECL auto cluster_memory::probe_at(std::string_view cluster, std::string_view endpoint)
    -> std::optional<time_point> {
  auto const* const of = endpoints_.find(key_of(cluster, endpoint));
  if (of == nullptr || of->breaker.state() != breaker_state::open) return std::nullopt;
  return of->breaker.open_until();
}

AGONES_ALLOC_DECL auto cluster_memory::begin_probe(std::string_view cluster, std::string_view endpoint, time_point now)
    -> bool {
  auto const key = key_of(cluster, endpoint);
  return endpoints_.find(key) != nullptr && endpoints_.use(key).breaker.begin_probe(now);
}

AGONES_ALLOC_DECL void cluster_memory::probed(std::string_view cluster, std::string_view endpoint,
                                              std::string_view problem, time_point now, double draw) {
  auto const key = key_of(cluster, endpoint);
  if (endpoints_.find(key) == nullptr) return;
  auto& of = endpoints_.use(key);
  bool const was_closed = of.breaker.state() == breaker_state::closed;
  of.breaker.probed(problem.empty(), now, draw, options_.breaker);
  if (!problem.empty()) of.message = problem;
  note_change(cluster, endpoint, was_closed, of.breaker.state());
}

AGONES_ALLOC_DECL void cluster_memory::forget(std::string_view cluster, std::string_view endpoint) {
  auto const key = key_of(cluster, endpoint);
  auto const* const of = endpoints_.find(key);
  if (of == nullptr) return;
  note_change(cluster, endpoint, of->breaker.state() == breaker_state::closed, breaker_state::closed);
  endpoints_.erase(key);
}

AGONES_ALLOC_DECL void cluster_memory::exhausted(std::string_view cluster, std::size_t shape, time_point now) {
  if (options_.exhausted_for.count() != 0) exhausted_.use(shape_key(cluster, shape)) = now;
}

AGONES_ALLOC_DECL void cluster_memory::not_exhausted(std::string_view cluster, std::size_t shape) {
  if (exhausted_.size() != 0) exhausted_.erase(shape_key(cluster, shape));
}

AGONES_ALLOC_DECL auto cluster_memory::was_exhausted(std::string_view cluster, std::size_t shape, time_point now)
    -> bool {
  if (exhausted_.size() == 0) return false;  // as mostly: no key is made
  auto const key = shape_key(cluster, shape);
  auto const* const when = exhausted_.find(key);
  if (when == nullptr) return false;
  if (now - *when < options_.exhausted_for) return true;
  exhausted_.erase(key);
  return false;
}

AGONES_ALLOC_DECL auto cluster_memory::endpoints(time_point now) const -> std::vector<endpoint_state> {
  std::vector<endpoint_state> out;
  out.reserve(endpoints_.size());
  endpoints_.visit([&](std::string_view key, endpoint_record const& of) {
    auto const middle = key.find('\0');
    endpoint_state one;
    one.cluster = key.substr(0, middle);
    one.endpoint = key.substr(middle + 1);
    one.breaker = of.breaker.state();
    one.failures = of.breaker.failures();
    one.calls = of.calls;
    one.last = of.last;
    one.message = of.message;
    one.took = of.took;
    if (one.breaker == breaker_state::open && of.breaker.open_until() > now) one.open_for = of.breaker.open_until() - now;
    out.push_back(std::move(one));
  });
  std::sort(out.begin(), out.end(), [](endpoint_state const& a, endpoint_state const& b) {
    return std::tie(a.cluster, a.endpoint) < std::tie(b.cluster, b.endpoint);
  });
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
