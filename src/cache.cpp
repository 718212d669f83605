// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/cache/freshness.ipp>
