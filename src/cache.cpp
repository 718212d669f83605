// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/cache/freshness.ipp>
#include <agones_alloc/impl/cache/index_changes.ipp>
#include <agones_alloc/impl/cache/index_explain.ipp>
#include <agones_alloc/impl/cache/index_pick.ipp>
#include <agones_alloc/impl/cache/index_views.ipp>
#include <agones_alloc/impl/cache/index_waiting.ipp>
#include <agones_alloc/impl/cache/ranked_index.ipp>
#include <agones_alloc/impl/cache/sync_allocator.ipp>
