// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/cache/fleet_book.ipp>
#include <agones_alloc/impl/cache/fleet_book_reading.ipp>
#include <agones_alloc/impl/cache/fleet_counts.ipp>
#include <agones_alloc/impl/cache/freshness.ipp>
#include <agones_alloc/impl/cache/index_changes.ipp>
#include <agones_alloc/impl/cache/index_explain.ipp>
#include <agones_alloc/impl/cache/index_look.ipp>
#include <agones_alloc/impl/cache/index_pick.ipp>
#include <agones_alloc/impl/cache/index_views.ipp>
#include <agones_alloc/impl/cache/index_waiting.ipp>
#include <agones_alloc/impl/cache/ranked_index.ipp>
#include <agones_alloc/impl/cache/sync_allocator.ipp>
