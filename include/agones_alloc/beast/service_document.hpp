// `/openapi.json`: what the server's own paths and the allocation paths take and answer, for people and generators.
#pragma once

#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>

#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// The OpenAPI 3.0 document of everything under `/v1`, of both allocation paths and of the probes.
AGONES_ALLOC_DECL auto service_document_text() -> std::string const&;

/// Answers GET and HEAD with it, whoever asks. Thread safety: any.
class service_document final : public http_handler {
 public:
  static constexpr std::string_view path = "/openapi.json";
  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/service_document.ipp>
#endif
