// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/async/allocator.ipp>
#include <agones_alloc/impl/async/allocator_options.ipp>
#include <agones_alloc/impl/async/asio_timer.ipp>
#include <agones_alloc/impl/async/detail/allocation_claims.ipp>
#include <agones_alloc/impl/async/detail/allocation_engine.ipp>
#include <agones_alloc/impl/async/detail/allocation_reports.ipp>
#include <agones_alloc/impl/async/detail/allocation_sharing.ipp>
#include <agones_alloc/impl/async/detail/allocation_steps.ipp>
#include <agones_alloc/impl/async/detail/memory_store_core.ipp>
#include <agones_alloc/impl/async/detail/object_table.ipp>
#include <agones_alloc/impl/async/manual_timer.ipp>
#include <agones_alloc/impl/async/memory_store.ipp>
#include <agones_alloc/impl/async/merged_source.ipp>
#include <agones_alloc/impl/async/reflector.ipp>
#include <agones_alloc/impl/async/store_fault.ipp>
