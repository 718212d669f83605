// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/flow/allocation_fsm.ipp>
#include <agones_alloc/impl/flow/backoff.ipp>
#include <agones_alloc/impl/flow/breaker.ipp>
#include <agones_alloc/impl/flow/cluster_fsm.ipp>
#include <agones_alloc/impl/flow/cluster_memory.ipp>
#include <agones_alloc/impl/flow/connection_iterator.ipp>
#include <agones_alloc/impl/flow/event_correlator.ipp>
#include <agones_alloc/impl/flow/event_delivery.ipp>
#include <agones_alloc/impl/flow/event_filter.ipp>
#include <agones_alloc/impl/flow/event_queue.ipp>
#include <agones_alloc/impl/flow/event_tracker.ipp>
#include <agones_alloc/impl/flow/gate_fsm.ipp>
#include <agones_alloc/impl/flow/gate_settings.ipp>
#include <agones_alloc/impl/flow/pending.ipp>
#include <agones_alloc/impl/flow/policy_choice.ipp>
#include <agones_alloc/impl/flow/ticket_fsm.ipp>
#include <agones_alloc/impl/flow/write_fate.ipp>
