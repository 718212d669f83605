// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/nats/detail/nats_connection.ipp>
#include <agones_alloc/impl/nats/nats_sink.ipp>
