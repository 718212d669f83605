// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/async/detail/memory_store_core.ipp>
#include <agones_alloc/impl/async/detail/object_table.ipp>
#include <agones_alloc/impl/async/memory_store.ipp>
#include <agones_alloc/impl/async/store_fault.ipp>
