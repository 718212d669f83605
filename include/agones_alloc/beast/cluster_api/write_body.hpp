// Bodies of requests that change something: a Scale, a patch of one, the options of a deletion.
#pragma once

#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/beast/cluster_api/api_answer.hpp>
#include <agones_alloc/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What a change is to be made under.
struct write_terms {
  bool dry_run{false};
  std::string uid{};               ///< "": of whatever object
  std::string resource_version{};  ///< "": whatever its version
};

struct scale_change {
  write_terms terms{};
  std::string name{};   ///< that the body says; "": none
  std::string space{};  ///< the same of the namespace
  std::optional<std::int64_t> replicas{};  ///< nothing: a patch that does not touch them
  std::optional<std::int64_t> tested{};    ///< how many there must be now, by a JSON patch
};

/// A PUT of a whole autoscaling/v1 Scale, JSON where no type is named: its `spec` without replicas says 0, as Go's clients
/// leave out a 0. A PATCH of one as merge patch, which may leave them alone, or as JSON patch: `/spec/replicas` tested,
/// added or replaced, resourceVersion and uid tested. Refused: 400; 415 for other types, strategic merge patches among
/// them; 422 for a PUT without spec, and for replicas that a patch takes away.
AGONES_ALLOC_DECL auto read_scale(http_request const&) -> std::variant<scale_change, api_refusal>;

/// DeleteOptions, in the body or the query; an empty body is none. Grace period and propagation mean nothing here.
/// Refused: 400, and 415 for a body that is said to be anything but JSON.
AGONES_ALLOC_DECL auto read_delete_options(http_request const&) -> std::variant<write_terms, api_refusal>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cluster_api/write_body.ipp>
#endif
