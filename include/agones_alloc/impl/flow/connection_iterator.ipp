#pragma once

#include <agones_alloc/flow/connection_iterator.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// What tells clusters apart. Nameless ones never merge, with each other or with a named one (Q31).
inline auto cluster_identity(game_server_allocation_policy const& policy) -> std::string {
  auto const& name = policy.connection_info.cluster_name;
  if (!name.empty()) return name.str();
  return "policy " + (policy.meta.uid.empty() ? to_string(key_of(policy.meta)) : policy.meta.uid.str());
}

inline auto saturating_sum(std::uint64_t a, std::uint64_t b) noexcept -> std::uint64_t {
  return b > std::numeric_limits<std::uint64_t>::max() - a ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

/// The policies of one priority and cluster, in stable order.
inline auto make_cluster(std::string identity, std::span<game_server_allocation_policy const* const> policies)
    -> connection_iterator::cluster {
  std::uint64_t sum = 0;
  for (auto const* policy : policies) {
    sum = saturating_sum(sum, static_cast<std::uint64_t>(std::max<std::int64_t>(policy->weight, 0)));
  }
  auto const& first = *policies.front();
  return {std::move(identity), static_cast<std::int64_t>(sum / policies.size()), first.connection_info,
          shared_string{first.meta.annotations.value_or_empty(server_name_annotation)},
          first.meta.annotations.value_or_empty(match_expressions_annotation) == "true"};
}

}  // namespace detail

AGONES_ALLOC_DECL connection_iterator::connection_iterator(std::span<game_server_allocation_policy const> policies) {
  struct entry {
    std::string identity;
    game_server_allocation_policy const* policy;
  };
  std::vector<entry> sorted;
  sorted.reserve(policies.size());
  for (auto const& policy : policies) sorted.push_back({detail::cluster_identity(policy), &policy});
  std::stable_sort(sorted.begin(), sorted.end(), [](entry const& a, entry const& b) {
    return std::tie(a.policy->priority, a.identity, a.policy->meta.namespace_, a.policy->meta.name) <
           std::tie(b.policy->priority, b.identity, b.policy->meta.namespace_, b.policy->meta.name);
  });
  auto groups = std::make_shared<std::vector<group>>();
  for (auto at = sorted.begin(); at != sorted.end();) {
    auto const priority = at->policy->priority;
    auto const identity = at->identity;
    std::vector<game_server_allocation_policy const*> members;
    for (; at != sorted.end() && at->policy->priority == priority && at->identity == identity; ++at) {
      members.push_back(at->policy);
    }
    if (groups->empty() || groups->back().priority != priority) groups->push_back({priority, {}});
    groups->back().clusters.push_back(detail::make_cluster(identity, members));
  }
  groups_ = std::move(groups);
}

AGONES_ALLOC_DECL auto connection_iterator::next(random_source& random) -> std::optional<cluster_connection_info> {
  auto const* const drawn = next_cluster(random);
  if (drawn == nullptr) return std::nullopt;
  return drawn->connection;
}

AGONES_ALLOC_DECL auto connection_iterator::next_cluster(random_source& random) -> cluster const* {
  auto const drawable = [this](cluster const& candidate) {
    return candidate.weight > 0 && std::none_of(used_.begin(), used_.end(), [&candidate](cluster const* used) {
             return used->identity == candidate.identity;
           });
  };
  for (; at_ != groups_->size(); ++at_) {
    std::uint64_t total = 0;
    auto const& clusters = (*groups_)[at_].clusters;
    for (auto const& candidate : clusters) {
      if (drawable(candidate)) total = detail::saturating_sum(total, static_cast<std::uint64_t>(candidate.weight));
    }
    if (total == 0) continue;
    auto const drawn = random.below(total);
    std::uint64_t running = 0;
    for (auto const& candidate : clusters) {
      if (!drawable(candidate)) continue;
      running = detail::saturating_sum(running, static_cast<std::uint64_t>(candidate.weight));
      if (running <= drawn) continue;
      used_.push_back(&candidate);
      return &candidate;
    }
  }
  return nullptr;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
