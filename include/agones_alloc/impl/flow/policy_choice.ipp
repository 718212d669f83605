#pragma once

#include <agones_alloc/flow/policy_choice.hpp>
#include <agones_alloc/select/match.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto choose_policies(std::span<game_server_allocation_policy const> all, std::string_view namespace_,
                                       label_selector const& selector)
    -> std::variant<std::vector<game_server_allocation_policy>, field_error> {
  std::vector<label_clause> clauses;
  if (auto problem = compile_labels(selector, clauses)) {
    return field_error{field_error_type::invalid, "spec.multiClusterSetting.policySelector", "", *std::move(problem)};
  }
  std::vector<game_server_allocation_policy> out;
  for (auto const& policy : all) {
    if (policy.meta.namespace_.view() != namespace_ || !matches_labels(clauses, policy.meta.labels)) continue;
    if (policy.meta.deletion_timestamp != unset_time) continue;
    out.push_back(policy);
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
