// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/beast/kubernetes/access_reviewer.ipp>
#include <agones_alloc/impl/beast/kubernetes/answer_meaning.ipp>
#include <agones_alloc/impl/beast/kubernetes/api_path.ipp>
#include <agones_alloc/impl/beast/kubernetes/detail/review_documents.ipp>
#include <agones_alloc/impl/beast/kubernetes/event_recorder.ipp>
#include <agones_alloc/impl/beast/kubernetes/front_proxy_source.ipp>
#include <agones_alloc/impl/beast/kubernetes/kubernetes_cluster.ipp>
#include <agones_alloc/impl/beast/kubernetes/kubernetes_source.ipp>
#include <agones_alloc/impl/beast/kubernetes/kubernetes_store.ipp>
#include <agones_alloc/impl/beast/kubernetes/kubernetes_watch.ipp>
