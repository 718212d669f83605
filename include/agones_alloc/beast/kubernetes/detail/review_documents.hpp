// The documents of TokenReview and SubjectAccessReview.
#pragma once

#include <agones_alloc/beast/access_review.hpp>
#include <agones_alloc/config.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

AGONES_ALLOC_DECL auto token_review(std::string_view token) -> std::string;
/// Whether the caller may create game server allocations in the namespace.
AGONES_ALLOC_DECL auto subject_access_review(caller_identity const&, std::string_view ns) -> std::string;

/// The API server's answers. Outer nullopt: they are none. Inner: the token is nobody's.
AGONES_ALLOC_DECL auto read_token_review(std::string_view body) -> std::optional<std::optional<caller_identity>>;
AGONES_ALLOC_DECL auto read_subject_access_review(std::string_view body) -> std::optional<access_answer>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/kubernetes/detail/review_documents.ipp>
#endif
