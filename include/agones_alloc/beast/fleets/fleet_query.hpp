// What a request to `/v1/fleets` or `/v1/gameservers` asks for.
#pragma once

#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/cache/fleet_filter.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/json/fleet_info.hpp>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct fleet_query {
  fleet_filter filter;
  fleet_info_parts parts;
  std::optional<fleet_key> after;   ///< `continue`
  std::size_t limit{std::numeric_limits<std::size_t>::max()};
  std::string resume;               ///< `Last-Event-ID`, or `resume`
  std::string shape;                ///< the same for requests that are told the same; "": this caller is told things of its own
};

struct server_query {
  std::string ns;
  std::string fleet;
  std::string after;
  std::size_t limit{500};
};

/// HTTP status and a sentence that begins with the parameter or field that is wrong.
struct query_refusal {
  int status{400};
  std::string message;
};

/// Checks a query whose filter is filled in: hops (508; what was forwarded is told of the local cluster only) and, where a
/// namespace is named, whether the caller may look there (403). Without one they see those where they may allocate: the filter
/// keeps what it needs of the request. Nothing: it may go on.
AGONES_ALLOC_DECL auto admit_fleet_query(fleet_query&, http_request const&, front_end_options const&) -> std::optional<query_refusal>;

/// Also checks hops (508) and, where a namespace is named, whether the caller may look there (403). The query's filter
/// lets the caller see the namespaces where they may allocate; it keeps what it needs of the request.
AGONES_ALLOC_DECL auto read_fleet_query(http_request const&, front_end_options const&) -> std::variant<fleet_query, query_refusal>;
AGONES_ALLOC_DECL auto read_server_query(http_request const&, front_end_options const&)
    -> std::variant<server_query, query_refusal>;

/// Tokens of pages: hexadecimal, so that they need no encoding. nullopt: not one of ours.
AGONES_ALLOC_DECL auto page_token(fleet_key const&) -> std::string;
AGONES_ALLOC_DECL auto page_token(std::string_view name) -> std::string;

/// The namespace that a request to these paths looks at, "" for all. For an access_gate.
AGONES_ALLOC_DECL auto fleets_namespace_of(http_request const&, front_end_options const&) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/fleets/fleet_query.ipp>
#endif
