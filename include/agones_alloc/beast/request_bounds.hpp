// What a front end refuses although it is valid: requests that cost far more than others.
#pragma once

#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/field_error.hpp>

#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// The parts of a request that have more entries than the options allow, a few at most; empty when it is within
/// bounds. A search costs what selectors, their values and priorities cost on every server.
AGONES_ALLOC_DECL auto check_bounds(allocation_spec const&, front_end_options const&) -> field_errors;

/// True when a browser sent this for a page of another host: `Origin` is there and names another host than `Host`.
/// Browsers send simple POSTs anywhere without asking first; no page is meant to allocate.
AGONES_ALLOC_DECL auto has_foreign_origin(http_request const&) -> bool;

inline constexpr std::string_view foreign_origin_message = "Origin: pages of other hosts must not allocate";

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/request_bounds.ipp>
#endif
