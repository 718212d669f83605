// From a Secret to what connections to another cluster are made with (spec 8.6).
#pragma once

#include <agones_alloc/beast/client/credentials.hpp>
#include <agones_alloc/beast/remote/secret_source.hpp>
#include <agones_alloc/config.hpp>

#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Certificate and key of `tls.crt` and `tls.key`; trust of `ca.crt` and `server_ca` together, each one or more
/// certificates in PEM, or the system's where both are empty. All is checked: that texts are PEM, that no key is encrypted,
/// that key and certificate belong together. "", with `out` filled, or what is wrong, never with contents; in the
/// reference's words where it has any.
AGONES_ALLOC_DECL auto make_client_bundle(secret_data const&, std::string_view secret_name, std::string_view server_ca,
                                          tls_identity& out) -> std::string;

/// The same without a Secret: no client certificate.
AGONES_ALLOC_DECL auto make_trust_bundle(std::string_view server_ca, tls_identity& out) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/client_bundle.ipp>
#endif
