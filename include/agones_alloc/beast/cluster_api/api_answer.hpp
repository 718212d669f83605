// Answers of the API of embedded fleets: refusals with their reasons, and in which form a client takes objects.
#pragma once

#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/beast/media_type.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/field_error.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A Status, with what it is about.
struct api_refusal {
  int code{400};
  std::string message;
  std::string reason{};  ///< "": Kubernetes' word for the code
  std::string kind{};    ///< what it is about; "": nothing in particular
  std::string name{};
  field_errors causes{};
  std::chrono::seconds retry_after{0};
};

/// The Status document, compact, without a newline.
AGONES_ALLOC_DECL auto to_json(api_refusal const&) -> std::string;
AGONES_ALLOC_DECL auto to_response(api_refusal const&) -> http_response;

/// `gameservers.agones.dev "a" not found`
AGONES_ALLOC_DECL auto not_found(std::string_view plural, std::string_view name) -> api_refusal;
/// 410, for watches, lists and pages whose version or token is no longer known.
AGONES_ALLOC_DECL auto expired(std::string message) -> api_refusal;
/// 405, with the methods that there are.
AGONES_ALLOC_DECL auto not_allowed(std::string message, std::string_view allowed) -> http_response;

/// The form in which a client takes objects.
enum class api_form : std::uint8_t {
  objects,
  table,  ///< `application/json;as=Table;v=v1;g=meta.k8s.io`
};

struct accepted_form {
  api_form form{api_form::objects};
  media_type type{media_type::json};  ///< of objects; Tables and lists are JSON
};

/// By quality, then by order. Objects as JSON when the field is absent or has a wildcard. nullopt: nothing that is
/// spoken here is acceptable.
AGONES_ALLOC_DECL auto read_accept(std::string_view field) noexcept -> std::optional<accepted_form>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cluster_api/api_answer.ipp>
#endif
