// A request as bytes.
#pragma once

#include <agones_alloc/beast/client/client_message.hpp>
#include <agones_alloc/beast/client/client_options.hpp>
#include <agones_alloc/config.hpp>

#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Whether it can be written without becoming another request: a method that is a token, a target of printable ASCII
/// from '/', fields that are tokens with values free of control characters, none that the client writes itself.
AGONES_ALLOC_DECL auto can_be_written(client_request const&) noexcept -> bool;

/// `name:port`, the port left out where it is the scheme's, IPv6 in brackets.
AGONES_ALLOC_DECL auto host_field(client_endpoint const&) -> std::string;

/// Head and body. `authorization` empty: no such field. Precondition: can_be_written.
AGONES_ALLOC_DECL auto write_request(client_request const&, client_endpoint const&, std::string_view user_agent,
                                     std::string_view authorization) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/request_wire.ipp>
#endif
