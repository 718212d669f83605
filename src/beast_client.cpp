// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/beast/client/child_process.ipp>
#include <agones_alloc/impl/beast/client/client_call.ipp>
#include <agones_alloc/impl/beast/client/client_connection.ipp>
#include <agones_alloc/impl/beast/client/client_connection_opening.ipp>
#include <agones_alloc/impl/beast/client/client_pool.ipp>
#include <agones_alloc/impl/beast/client/client_pool_credentials.ipp>
#include <agones_alloc/impl/beast/client/exec_credentials.ipp>
#include <agones_alloc/impl/beast/client/file_credentials.ipp>
#include <agones_alloc/impl/beast/client/kube_connection.ipp>
#include <agones_alloc/impl/beast/client/matchmaker_client.ipp>
#include <agones_alloc/impl/beast/client/pooled_http_client.ipp>
#include <agones_alloc/impl/beast/client/request_wire.ipp>
#include <agones_alloc/impl/beast/client/response_parser.ipp>
#include <agones_alloc/impl/beast/client/static_credentials.ipp>
#include <agones_alloc/impl/beast/client/ticket_exchange.ipp>
#include <agones_alloc/impl/beast/client/tls_context.ipp>
