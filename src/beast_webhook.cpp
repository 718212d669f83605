// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/beast/webhook/webhook_signature.ipp>
#include <agones_alloc/impl/beast/webhook/webhook_sink.ipp>
