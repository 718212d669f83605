// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/beast/tls/client_certificate.ipp>
#include <agones_alloc/impl/beast/tls/server_context.ipp>
#include <agones_alloc/impl/beast/tls/tls_server.ipp>
