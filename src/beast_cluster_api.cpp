// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/beast/cluster_api/api_answer.ipp>
#include <agones_alloc/impl/beast/cluster_api/cluster_documents.ipp>
#include <agones_alloc/impl/beast/cluster_api/cluster_front_end.ipp>
#include <agones_alloc/impl/beast/cluster_api/cluster_openapi.ipp>
#include <agones_alloc/impl/beast/cluster_api/cluster_writes.ipp>
#include <agones_alloc/impl/beast/cluster_api/event_book.ipp>
#include <agones_alloc/impl/beast/cluster_api/fleet_feed.ipp>
#include <agones_alloc/impl/beast/cluster_api/list_answer.ipp>
#include <agones_alloc/impl/beast/cluster_api/list_pages.ipp>
#include <agones_alloc/impl/beast/cluster_api/list_query.ipp>
#include <agones_alloc/impl/beast/cluster_api/served_path.ipp>
#include <agones_alloc/impl/beast/cluster_api/server_feed.ipp>
#include <agones_alloc/impl/beast/cluster_api/watch_stream.ipp>
#include <agones_alloc/impl/beast/cluster_api/write_body.ipp>
