// The query of a list or a watch, as Kubernetes' clients write it.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/table.hpp>
#include <agones_alloc/model/meta.hpp>
#include <agones_alloc/select/match.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// `FIELD=VALUE`, `FIELD==VALUE`, `FIELD!=VALUE`.
struct field_term {
  std::string field;
  bool equal{true};  ///< false: `!=`
  std::string value;
  friend auto operator==(field_term const&, field_term const&) -> bool = default;
};

/// Terms with commas between them, all of which must hold; or a sentence about what cannot be read.
AGONES_ALLOC_DECL auto parse_field_terms(std::string_view) -> std::variant<std::vector<field_term>, std::string>;

/// `metadata.name=a` and the like: what custom resources can be selected by.
struct field_requirement {
  enum class field : std::uint8_t { name, namespace_ };
  field of{field::name};
  bool equal{true};  ///< false: `!=`
  std::string value;
  friend auto operator==(field_requirement const&, field_requirement const&) -> bool = default;
};

/// `metadata.name=a,metadata.namespace!=b`; or a sentence about what cannot be read.
AGONES_ALLOC_DECL auto parse_field_query(std::string_view) -> std::variant<std::vector<field_requirement>, std::string>;

enum class version_match : std::uint8_t { any, exact, not_older };

struct list_query {
  std::vector<label_clause> labels;
  std::vector<field_requirement> fields;
  std::size_t limit{0};             ///< 0: all
  std::string continue_token;       ///< "" for the first page
  std::string resource_version;     ///< "" when none is given
  version_match match{version_match::any};
  bool watch{false};
  bool bookmarks{false};            ///< allowWatchBookmarks
  bool initial_events{false};       ///< sendInitialEvents: a watch begins with what there is, and says when that was all
  std::optional<std::chrono::seconds> time;  ///< timeoutSeconds, of a watch
  row_object rows{row_object::metadata};     ///< includeObject, of a Table

  auto selects_all() const noexcept -> bool { return labels.empty() && fields.empty(); }
};

/// The query without its '?', or a sentence that names the parameter that is wrong. Unknown parameters are ignored. Of a
/// selector at most 4096 characters and 64 requirements are taken.
AGONES_ALLOC_DECL auto read_list_query(std::string_view query) -> std::variant<list_query, std::string>;

/// Whether `watch` is true in the query; nullopt: it is neither true nor false.
AGONES_ALLOC_DECL auto asks_for_watch(std::string_view query) -> std::optional<bool>;

/// Whether labels and fields of an object are those that were asked for.
AGONES_ALLOC_DECL auto is_selected(list_query const&, object_meta const&) noexcept -> bool;
/// The same, had the object these labels.
AGONES_ALLOC_DECL auto is_selected(list_query const&, object_meta const&, string_map const& labels) noexcept -> bool;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cluster_api/list_query.ipp>
#endif
