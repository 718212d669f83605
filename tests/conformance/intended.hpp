// The answers we mean to give where the reference's is a quirk, worked out from a case's JSON alone: nothing
// here calls the library. Each returns nullopt where its rule does not apply.
#pragma once

#include "runner.hpp"

#include <optional>

namespace conformance {

using intended_answer = std::optional<json::value>;

// sort
auto in_total_order(answer const&) -> intended_answer;
// find
auto refused_before_search(answer const&) -> intended_answer;
// validate
auto with_compact_selector(answer const&) -> intended_answer;
// apply
auto with_saturated_counts(answer const&) -> intended_answer;
auto with_truncation_reported(answer const&) -> intended_answer;
// policies
auto with_nameless_clusters_apart(answer const&) -> intended_answer;

}  // namespace conformance
