// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/beast/fleets/event_reader.ipp>
#include <agones_alloc/impl/beast/fleets/fleet_event_form.ipp>
#include <agones_alloc/impl/beast/fleets/fleet_query.ipp>
#include <agones_alloc/impl/beast/fleets/fleet_stream.ipp>
#include <agones_alloc/impl/beast/fleets/fleets_front_end.ipp>
#include <agones_alloc/impl/beast/fleets/query_front_end.ipp>
