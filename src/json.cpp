// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/json/decode_error.ipp>
#include <agones_alloc/impl/json/parse.ipp>
#include <agones_alloc/impl/json/read_allocation.ipp>
#include <agones_alloc/impl/json/time.ipp>
