// What `kubectl explain gameserverallocation` reads.
#pragma once

#include <agones_alloc/config.hpp>

#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// OpenAPI 3.0 of allocation.agones.dev/v1: the one path, and the schemas of request and answer (spec 2, 9).
AGONES_ALLOC_DECL auto openapi_document() noexcept -> std::string_view;

/// The list of such documents, with the one path above, at which the front end answers.
AGONES_ALLOC_DECL auto openapi_list() noexcept -> std::string_view;

inline constexpr std::string_view openapi_document_path = "/openapi/v3/apis/allocation.agones.dev/v1";

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/openapi_document.ipp>
#endif
