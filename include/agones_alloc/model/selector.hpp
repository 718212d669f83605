// LabelSelector and GameServerSelector as they stand on the wire (spec 1.3).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/named_map.hpp>
#include <agones_alloc/model/string_map.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// One matchExpressions entry. `op` stays text: an unknown one is a validation error, not a decode error.
struct label_requirement {
  shared_string key;
  shared_string op;  ///< In, NotIn, Exists, DoesNotExist
  std::vector<shared_string> values;
  friend auto operator==(label_requirement const&, label_requirement const&) -> bool = default;
};

struct label_selector {
  string_map match_labels;
  std::vector<label_requirement> match_expressions;
  auto empty() const noexcept -> bool { return match_labels.empty() && match_expressions.empty(); }
  friend auto operator==(label_selector const&, label_selector const&) -> bool = default;
};

struct player_selector {
  std::int64_t min_available{0};
  std::int64_t max_available{0};  ///< 0 disables the whole clause (spec 3)
  friend auto operator==(player_selector const&, player_selector const&) -> bool = default;
};

struct counter_selector {
  std::int64_t min_count{0};
  std::int64_t max_count{0};  ///< 0: unlimited
  std::int64_t min_available{0};
  std::int64_t max_available{0};  ///< 0: unlimited
  friend auto operator==(counter_selector const&, counter_selector const&) -> bool = default;
};

struct list_selector {
  shared_string contains_value;
  std::int64_t min_available{0};
  std::int64_t max_available{0};  ///< 0: unlimited
  friend auto operator==(list_selector const&, list_selector const&) -> bool = default;
};

/// The label selector's fields are inlined on the wire.
struct game_server_selector {
  label_selector labels;
  std::optional<shared_string> game_server_state;  ///< text: a wrong word is a validation error
  std::optional<player_selector> players;
  /// Presence counts: with CountsAndLists off even `{}` is refused (spec 2.4, rules 12 and 13).
  std::optional<named_map<counter_selector>> counters;
  std::optional<named_map<list_selector>> lists;
  friend auto operator==(game_server_selector const&, game_server_selector const&) -> bool = default;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
