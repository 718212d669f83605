// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/flow/allocation_fsm.ipp>
#include <agones_alloc/impl/flow/backoff.ipp>
#include <agones_alloc/impl/flow/connection_iterator.ipp>
#include <agones_alloc/impl/flow/event_correlator.ipp>
#include <agones_alloc/impl/flow/write_fate.ipp>
