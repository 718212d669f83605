// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/beast/remote/client_bundle.ipp>
#include <agones_alloc/impl/beast/remote/clusters_page.ipp>
#include <agones_alloc/impl/beast/remote/detail/fleet_upstream.ipp>
#include <agones_alloc/impl/beast/remote/detail/protocol_search.ipp>
#include <agones_alloc/impl/beast/remote/detail/sse_feed.ipp>
#include <agones_alloc/impl/beast/remote/endpoint.ipp>
#include <agones_alloc/impl/beast/remote/folder_secrets.ipp>
#include <agones_alloc/impl/beast/remote/kubernetes_secrets.ipp>
#include <agones_alloc/impl/beast/remote/remote_answer.ipp>
#include <agones_alloc/impl/beast/remote/remote_by_protocol.ipp>
#include <agones_alloc/impl/beast/remote/remote_by_trying.ipp>
#include <agones_alloc/impl/beast/remote/remote_fleets.ipp>
#include <agones_alloc/impl/beast/remote/rest_remote_allocator.ipp>
#include <agones_alloc/impl/beast/remote/secret_credentials.ipp>
