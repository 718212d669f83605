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
  std::optional<std::int64_t> replicas{};  ///< nothing: a patch that does not touch them
};

/// A PUT of a whole autoscaling/v1 Scale, JSON where no type is named, or a PATCH of one as merge patch. Refused: 400, 415
/// for other types, 422 without replicas.
AGONES_ALLOC_DECL auto read_scale(http_request const&) -> std::variant<scale_change, api_refusal>;

/// DeleteOptions, in the body or the query; an empty body is none. Grace period and propagation mean nothing here.
AGONES_ALLOC_DECL auto read_delete_options(http_request const&) -> std::variant<write_terms, api_refusal>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cluster_api/write_body.ipp>
#endif
