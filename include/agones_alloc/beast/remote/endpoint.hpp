// The endpoints that policies name.
#pragma once

#include <agones_alloc/beast/client/client_options.hpp>
#include <agones_alloc/config.hpp>

#include <string>
#include <string_view>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// `host`, `host:8443`, `10.0.0.1:443`, `2001:db8::1`, `[2001:db8::1]:8443`, with or without `https://` before and `/`
/// after it; without a port it is 443 (Q17). `http://` is plain HTTP, port 80 by default, and refused unless
/// `allow_plaintext`. Or what is wrong with it, in words.
AGONES_ALLOC_DECL auto parse_endpoint(std::string_view text, bool allow_plaintext = false)
    -> std::variant<client_endpoint, std::string>;

/// How an endpoint is spoken to. `by_trying`: as it is found out, see remote_by_trying.
enum class remote_protocol { rest, grpc, by_trying };

/// An endpoint's own: `grpc://` and `grpc+http://` are gRPC, `https://` and `http://` are REST; all others are `otherwise`,
/// since Agones' policies say neither.
AGONES_ALLOC_DECL auto protocol_of(std::string_view endpoint, remote_protocol otherwise) noexcept -> remote_protocol;

/// Of a gRPC endpoint: as parse_endpoint, with or without `grpc://` before it. `grpc+http://` is gRPC without TLS, port 80 by
/// default, and refused unless `allow_plaintext`.
AGONES_ALLOC_DECL auto parse_grpc_endpoint(std::string_view text, bool allow_plaintext = false)
    -> std::variant<client_endpoint, std::string>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/endpoint.ipp>
#endif
