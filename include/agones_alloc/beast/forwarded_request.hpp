// What a request carries of its way here, and whether its sender may have what it asks for.
#pragma once

#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct forwarded_request {
  std::uint32_t hops{0};   ///< `Agones-Alloc-Hops`
};

/// Why a request is not served.
struct forward_refusal {
  int status;  ///< 400, 403 or 508
  std::string message;
};

/// The fields of a request for `space`, or why it is refused: a field that cannot be read, a loop, a sender who may
/// not allocate there.
AGONES_ALLOC_DECL auto read_forwarded(http_request const&, std::string_view space, front_end_options const&)
    -> std::variant<forwarded_request, forward_refusal>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/forwarded_request.ipp>
#endif
