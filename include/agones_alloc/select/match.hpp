// Does a game server match a selector? (spec 3)
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/model/selector.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class label_operator : std::uint8_t { in, not_in, exists, does_not_exist };

/// One label requirement, ready to be evaluated. A matchLabels entry is `in` with one value.
struct label_clause {
  shared_string key;
  label_operator op{label_operator::in};
  std::vector<shared_string> values;  ///< sorted, distinct
  friend auto operator==(label_clause const&, label_clause const&) -> bool = default;
};

/// A share of all servers, the same in every process: of `count` shares of about one size, told apart by a hash of the
/// server's name, the one numbered `index`.
struct server_share {
  std::uint32_t index{0};
  std::uint32_t count{1};  ///< 1: all servers
  friend auto operator==(server_share const&, server_share const&) -> bool = default;
};
AGONES_ALLOC_DECL auto is_in(server_share, game_server const&) noexcept -> bool;

/// At most so many may be counted now, or stand in the list: what `capacity` of an exact action leaves for its amount.
struct most_present {
  shared_string name;
  std::int64_t most{0};
  bool in_list{false};  ///< else a counter
  friend auto operator==(most_present const&, most_present const&) -> bool = default;
};

/// A selector with its words turned into enums and its gates applied. A value.
struct compiled_selector {
  std::vector<label_clause> labels;        ///< sorted by key; all must hold
  std::optional<game_server_state> state;  ///< nullopt: any
  std::optional<player_selector> players;  ///< absent when it cannot filter (gate off, or max 0)
  named_map<counter_selector> counters;    ///< empty: no clause
  named_map<list_selector> lists;
  std::vector<most_present> at_most;       ///< no clauses of a request's own, as the next: choice_options::exact
  server_share share;                      ///< choice_options::prefer

  friend auto operator==(compiled_selector const&, compiled_selector const&) -> bool = default;
};

/// Compiles a label selector. The error's text is the reference's reason (spec 2.5, "Label selector reasons").
AGONES_ALLOC_DECL auto compile_labels(label_selector const&, std::vector<label_clause>& out)
    -> std::optional<std::string>;

/// Compiles a (defaulted) selector; errc::invalid_request where its labels cannot be compiled. A state that
/// is not a known word compiles to `other`, which matches nothing.
AGONES_ALLOC_DECL auto compile(game_server_selector const&, feature_gates) -> result<compiled_selector>;

/// Label clauses only.
AGONES_ALLOC_DECL auto matches_labels(std::vector<label_clause> const&, string_map const& labels) noexcept -> bool;
/// All clauses but labels: share, state, players, counters, lists, at_most. Saturating arithmetic.
AGONES_ALLOC_DECL auto matches_status(compiled_selector const&, game_server const&) noexcept -> bool;
/// Every clause. Namespace and deletion are not checked: the search and the cache do that.
AGONES_ALLOC_DECL auto matches(compiled_selector const&, game_server const&) noexcept -> bool;

/// A stable hash of a compiled selector, for looking up views.
AGONES_ALLOC_DECL auto hash_value(compiled_selector const&) noexcept -> std::size_t;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/select/match.ipp>
#endif
