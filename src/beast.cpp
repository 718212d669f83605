// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/beast/access_gate.ipp>
#include <agones_alloc/impl/beast/breakdown_header.ipp>
#include <agones_alloc/impl/beast/front_proxy.ipp>
#include <agones_alloc/impl/beast/http_head.ipp>
#include <agones_alloc/impl/beast/http_listener.ipp>
#include <agones_alloc/impl/beast/identity_gate.ipp>
#include <agones_alloc/impl/beast/kubernetes_body.ipp>
#include <agones_alloc/impl/beast/kubernetes_front_end.ipp>
#include <agones_alloc/impl/beast/media_type.ipp>
#include <agones_alloc/impl/beast/openapi_document.ipp>
#include <agones_alloc/impl/beast/outcome_answer.ipp>
#include <agones_alloc/impl/beast/parsed_request.ipp>
#include <agones_alloc/impl/beast/probes.ipp>
#include <agones_alloc/impl/beast/query_string.ipp>
#include <agones_alloc/impl/beast/request_bounds.ipp>
#include <agones_alloc/impl/beast/rest_front_end.ipp>
