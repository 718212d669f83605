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
// convert
auto keeping_match_expressions(answer const&) -> intended_answer;
auto with_empty_for_absent_values(answer const&) -> intended_answer;
// sequence
auto with_servers_allocated_again(answer const&) -> intended_answer;
// kubeapi, rest
auto with_exact_integers(answer const&) -> intended_answer;
auto with_full_api_version(answer const&) -> intended_answer;
auto with_own_status(answer const&) -> intended_answer;
auto refusing_other_kinds(answer const&) -> intended_answer;
auto refusing_null(answer const&) -> intended_answer;
auto negotiating_first(answer const&) -> intended_answer;
auto with_status_for_bad_input(answer const&) -> intended_answer;
auto with_plain_message(answer const&) -> intended_answer;
auto with_invalid_argument(answer const&) -> intended_answer;
auto with_own_parser_text(answer const&) -> intended_answer;
auto telling_update_failures(answer const&) -> intended_answer;

}  // namespace conformance
