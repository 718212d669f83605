#include "excuses.hpp"

#include "intended.hpp"

namespace conformance {

auto excuses() -> std::vector<excuse> const& {
  static std::vector<excuse> const table{
      {"Q26", "a total order: unknown nodes rank last but go on to names, servers without player data go after those with, "
              "names tie to namespaces",
       "sort", &in_total_order},
      {"2.4", "an invalid request never reaches the search", "find", &refused_before_search},
      {"2.3", "a bad label selector is shown as text, not as a Go struct literal", "validate convert kubeapi rest",
       &with_compact_selector},
      {"Q15", "counts saturate instead of overflowing", "apply sequence", &with_saturated_counts},
      {"Q16", "an added value that a full list drops is reported", "apply", &with_truncation_reported},
      {"Q31", "clusters without a name stay apart",
       "policies", &with_nameless_clusters_apart},
  };
  return table;
}

}  // namespace conformance
