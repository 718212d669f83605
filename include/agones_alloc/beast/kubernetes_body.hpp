// The body of a Kubernetes request: decoding, with the faults as answers.
#pragma once

#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/allocation.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class field_validation : std::uint8_t { ignore, warn, strict };

/// A decoded body, and what a client with fieldValidation=Warn is to be told.
struct decoded_body {
  game_server_allocation value;
  std::vector<std::string> warnings;
};

/// A refusal: HTTP status and a message that names the field, line or header.
struct body_refusal {
  int status{400};
  std::string message;
  /// What Agones says in its place, in 500 text/plain; "" when it has no words of its own.
  std::string reference_message;
};

/// Content-Type (415), JSON or YAML syntax with line, kind, types, enum names where strict, unknown fields where
/// `validation` says so (400).
AGONES_ALLOC_DECL auto decode_body(http_request const&, front_end_options const&, field_validation)
    -> std::variant<decoded_body, body_refusal>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/kubernetes_body.ipp>
#endif
