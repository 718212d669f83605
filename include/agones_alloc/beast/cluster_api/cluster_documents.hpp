// What the API of embedded fleets says about itself.
#pragma once

#include <agones_alloc/config.hpp>

#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// The discovery document at a path (`/api`, `/apis`, `/apis/agones.dev/v1`, `/version`, ...), or the OpenAPI documents; ""
/// where there is none.
AGONES_ALLOC_DECL auto cluster_document(std::string_view path) -> std::string;

/// OpenAPI 3.0 of agones.dev/v1, for `kubectl explain` and its validation.
AGONES_ALLOC_DECL auto cluster_openapi_document() noexcept -> std::string_view;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cluster_api/cluster_documents.ipp>
#include <agones_alloc/impl/beast/cluster_api/cluster_openapi.ipp>
#endif
