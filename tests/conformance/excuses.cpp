#include "excuses.hpp"

#include "intended.hpp"

namespace conformance {

auto excuses() -> std::vector<excuse> const& {
  static std::vector<excuse> const table{
      {"Q26",
       "a total order: unknown nodes rank last but go on to names, servers without player data go after those with, "
       "names tie to namespaces",
       "sort", &in_total_order},
      {"2.4", "an invalid request never reaches the search", "find", &refused_before_search},
      {"2.3", "a bad label selector is shown as text, not as a Go struct literal", "validate convert kubeapi rest",
       &with_compact_selector},
      {"Q15", "counts saturate instead of overflowing", "apply", &with_saturated_counts},
      {"Q16", "an added value that a full list drops is reported", "apply", &with_truncation_reported},
      {"Q31", "clusters without a name stay apart", "policies", &with_nameless_clusters_apart},
      {"Q10", "what a selector excludes is forwarded as labels or refused, never dropped", "convert",
       &keeping_match_expressions},
      {"8.7", "an answer's JSON prints no values as []: the vectors went back from memory, where they may be null",
       "convert", &with_empty_for_absent_values},
      {"Q5", "a server allocated by one request of a batch is there for the next (as in Q39)", "sequence",
       &with_servers_allocated_again},
      {"1.1", "integers stay exact: the vectors' parsed answers went through a double", "kubeapi",
       &with_exact_integers},
      {"Q1", "the answer's apiVersion is the full one whatever the request had", "kubeapi", &with_full_api_version},
      {"Q6", "the status in a request is ignored", "kubeapi", &with_own_status},
      {"Q21", "a body of another kind is refused", "kubeapi", &refusing_other_kinds},
      {"2.6", "a body of null is refused as an empty one is, not taken for an allocation without any wish", "kubeapi",
       &refusing_null},
      {"Q20", "the type of the answer is negotiated before anything is allocated", "kubeapi", &negotiating_first},
      {"2.6", "what cannot be decoded is 400 or 415 with a Status, not 500 in plain text (--compat brings that back)",
       "kubeapi", &with_status_for_bad_input},
      {"Q2", "a message is no format string", "rest", &with_plain_message},
      {"Q45", "what does not validate is 400 with code 3, not 500 with 422 (--compat brings that back)", "rest",
       &with_invalid_argument},
      {"8.10", "the parser's words are our own", "rest", &with_own_parser_text},
      {"Q3", "updates that fail are told as Unavailable or Aborted, not as an empty cluster", "rest",
       &telling_update_failures},
  };
  return table;
}

}  // namespace conformance
